/** JSON, read with its places and written. Uses nothing. */
@NullMarked
package ipmasq.json;

import org.jspecify.annotations.NullMarked;
