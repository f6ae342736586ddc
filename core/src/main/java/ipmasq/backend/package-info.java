/**
 * What every way to the kernel has in common: look, carry out a plan, and say how it went. Uses
 * {@code net}, {@code policy} and {@code plan}.
 */
@NullMarked
package ipmasq.backend;

import org.jspecify.annotations.NullMarked;
