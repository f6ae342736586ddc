/** Reads all programs' rules in nf_tables, including iptables-nft's, for {@link ipmasq.hook}. */
@NullMarked
package ipmasq.hook.nftables;

import org.jspecify.annotations.NullMarked;
