/** What the kernel's routing says of a packet, asked over rtnetlink. */
@NullMarked
package ipmasq.netlink.route;

import org.jspecify.annotations.NullMarked;
