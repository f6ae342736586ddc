/** Reads everybody's rules in nf_tables, iptables-nft's included, for {@link ipmasq.hook}. */
@NullMarked
package ipmasq.hook.nftables;

import org.jspecify.annotations.NullMarked;
