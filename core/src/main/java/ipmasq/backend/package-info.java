/** What all backends have in common: observe, carry out a plan, report the outcome. */
@NullMarked
package ipmasq.backend;

import org.jspecify.annotations.NullMarked;
