/**
 * What the agent says about itself: a status that is made from passes, and everything that shows it
 * (health, metrics, JSON, text and the page).
 */
@NullMarked
package ipmasq.status;

import org.jspecify.annotations.NullMarked;
