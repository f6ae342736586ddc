/**
 * The agent's own nf_tables table, which holds a policy, and a cheap watch on our rules (also those
 * in iptables-nft), over netlink.
 */
@NullMarked
package ipmasq.backend.nftables;

import org.jspecify.annotations.NullMarked;
