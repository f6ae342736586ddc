/** Lines for the operator. Uses {@code json}. */
@NullMarked
package ipmasq.log;

import org.jspecify.annotations.NullMarked;
