/**
 * Everything about nf_tables that the agent knows, over netlink: the table of our own that holds a
 * policy, a cheap watch on our rules (iptables-nft's too), and other programs' rules at the nat
 * hook as they are in the kernel.
 */
@NullMarked
package ipmasq.backend.nftables;

import org.jspecify.annotations.NullMarked;
