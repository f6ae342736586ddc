/**
 * What the agent says of itself: one record made from passes, and its readers (health, metrics,
 * JSON, the page). Uses {@code net}, {@code config}, {@code policy}, {@code plan}, {@code backend},
 * {@code loop}, {@code json}, {@code log} and {@code http}, but no backend of its own.
 */
@NullMarked
package ipmasq.status;

import org.jspecify.annotations.NullMarked;
