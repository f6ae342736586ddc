/**
 * What happens to live flows: samples of new flows as connection tracking records them, after NAT,
 * judged by the policy in force. Uses {@code net}, {@code policy} and the netlink module.
 */
@NullMarked
package ipmasq.evidence.flows;

import org.jspecify.annotations.NullMarked;
