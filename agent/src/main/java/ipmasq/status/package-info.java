/**
 * What the agent reports about itself: a status built from syncs, and everything that shows it
 * (health, metrics, JSON, text and the page).
 */
@NullMarked
package ipmasq.status;

import org.jspecify.annotations.NullMarked;
