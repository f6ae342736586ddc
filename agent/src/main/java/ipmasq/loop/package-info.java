/**
 * The loop: read the file, look at the rules, plan, apply; again when something may have changed.
 * Knows backends by their interface only.
 */
@NullMarked
package ipmasq.loop;

import org.jspecify.annotations.NullMarked;
