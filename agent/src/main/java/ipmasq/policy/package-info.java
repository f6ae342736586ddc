/**
 * What happens to a packet, as pure data: a config becomes a policy, a policy judges a packet. Uses
 * {@code net} and {@code config}.
 */
@NullMarked
package ipmasq.policy;

import org.jspecify.annotations.NullMarked;
