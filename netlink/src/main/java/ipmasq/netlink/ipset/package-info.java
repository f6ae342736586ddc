/** The kernel's ipsets, read over netlink. Uses {@code ipmasq.netlink}. */
@NullMarked
package ipmasq.netlink.ipset;

import org.jspecify.annotations.NullMarked;
