/**
 * What other programs' rules do to a packet, together with ours: which rule decides, and which
 * rules override the config.
 *
 * <p>The evaluator follows one packet on its way. A field that the question leaves open, such as
 * the source, is open only until a rule tests it: then the walk goes on with both kinds of packet.
 * A match that it cannot judge is assumed to hold and not to hold, and what comes of that is "may".
 *
 * <pre>
 *   prerouting or output   raw −300 ─▶ mangle −150 ─▶ nat −100      marks, notrack, new destination
 *   forward                not followed: the bits of the mark that its rules set are unknown
 *   postrouting            mangle −150 ─▶ all nat chains by priority
 *     priority 85   our pin, if any        ──▶ exempt?     ──▶ done: bound to the source it has
 *     priority 90   table ip mine          ──▶ translated? ──▶ done
 *     priority 100  iptables POSTROUTING   ──▶ translated? ──▶ done    RETURN and ACCEPT end a
 *     priority 105  our table              ──▶ translated? ──▶ done    chain, not the hook
 * </pre>
 */
@NullMarked
package ipmasq.evidence.neighbours;

import org.jspecify.annotations.NullMarked;
