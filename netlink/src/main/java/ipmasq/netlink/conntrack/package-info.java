/**
 * Connection tracking over netlink: the flows that the kernel knows, those that begin, and
 * forgetting one. Uses {@code ipmasq.netlink}.
 */
@NullMarked
package ipmasq.netlink.conntrack;

import org.jspecify.annotations.NullMarked;
