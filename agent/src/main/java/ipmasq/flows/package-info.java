/**
 * What happened to live flows: a moment's new flows as connection tracking recorded them, after
 * NAT, judged by the policy in force. Uses {@code net}, {@code policy} and the netlink module.
 */
@NullMarked
package ipmasq.flows;

import org.jspecify.annotations.NullMarked;
