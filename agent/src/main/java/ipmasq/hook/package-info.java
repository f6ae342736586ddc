/**
 * The whole nat postrouting hook, with our rules and other programs', as pure data: which rule
 * decides on a packet, and which rules override the config.
 *
 * <p>What the kernel does there: the base chains run in the order of their priorities, all of
 * iptables being one at 100, until a rule translates the packet. The first translation binds the
 * connection; without one the packet keeps its source.
 *
 * <pre>
 *   priority 85   our pin, if any        ──▶ exempt?     ──▶ done: bound to the source it has
 *   priority 90   table ip mine          ──▶ translated? ──▶ done
 *   priority 100  iptables POSTROUTING   ──▶ translated? ──▶ done      RETURN and ACCEPT end a chain,
 *   priority 105  our table              ──▶ translated? ──▶ done      not the hook
 * </pre>
 */
@NullMarked
package ipmasq.hook;

import org.jspecify.annotations.NullMarked;
