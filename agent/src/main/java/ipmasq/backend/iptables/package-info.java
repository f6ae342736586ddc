/**
 * A policy as rules of iptables' nat table. Rules are read and written by the iptables programs, as
 * text; netlink only tells which chains iptables-nft has, so that no program lists the whole table.
 *
 * <pre>
 *   what the kernel has   iptables -S CHAIN (nft), iptables-save (legacy) → rules as values
 *   what it should have   a policy → rules as values
 *   where they differ     one text with chain, rules and jump → iptables-restore --noflush
 * </pre>
 */
@NullMarked
package ipmasq.backend.iptables;

import org.jspecify.annotations.NullMarked;
