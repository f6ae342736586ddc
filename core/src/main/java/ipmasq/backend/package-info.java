/** What every way to the kernel has in common: observe, carry out a plan, and say how it went. */
@NullMarked
package ipmasq.backend;

import org.jspecify.annotations.NullMarked;
