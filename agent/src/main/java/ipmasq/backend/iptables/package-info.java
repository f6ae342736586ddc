/**
 * A policy as rules of the nat table, by the programs {@code iptables-save} and {@code
 * iptables-restore}. Text and processes only: this package never speaks netlink. Uses {@code net},
 * {@code policy}, {@code plan} and {@code backend}.
 *
 * <pre>
 *   iptables-save  → SavedTable → Found    what is ours: Rules in a Layout, jumps, remains of old versions
 *   Policy         → Layout     → Restore  one text that carries chain, rules and jump
 *                                 → iptables-restore --noflush
 * </pre>
 */
@NullMarked
package ipmasq.backend.iptables;

import org.jspecify.annotations.NullMarked;
