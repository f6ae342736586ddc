/** JSON: a reader that knows the place of everything it read, and a writer. */
@NullMarked
package ipmasq.json;

import org.jspecify.annotations.NullMarked;
