/** The tables of iptables-legacy, read without its programs. Uses {@code ipmasq.netlink}. */
@NullMarked
package ipmasq.netlink.xtables;

import org.jspecify.annotations.NullMarked;
