/** JSON for scripts and collectors. Uses nothing. */
@NullMarked
package ipmasq.json;

import org.jspecify.annotations.NullMarked;
