/**
 * The loop: read the file, look at the rules, plan, apply; again when something may have changed.
 * Uses {@code net}, {@code config}, {@code policy}, {@code plan}, {@code backend} and {@code log},
 * but no backend of its own.
 */
@NullMarked
package ipmasq.loop;

import org.jspecify.annotations.NullMarked;
