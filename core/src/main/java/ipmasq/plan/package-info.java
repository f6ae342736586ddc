/** The difference between what should be and what is, as pure data that can be printed. */
@NullMarked
package ipmasq.plan;

import org.jspecify.annotations.NullMarked;
