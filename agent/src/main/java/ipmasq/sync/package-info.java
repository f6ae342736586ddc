/**
 * The sync: read the file, read the rules, plan, apply; again when something may have changed.
 * Knows backends only by their interface.
 */
@NullMarked
package ipmasq.sync;

import org.jspecify.annotations.NullMarked;
