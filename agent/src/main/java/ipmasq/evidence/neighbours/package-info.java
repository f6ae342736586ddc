/**
 * What other programs' rules do to a packet, together with ours: which rule decides, and which
 * rules override the config.
 *
 * <p>A {@code Walk} follows one {@code Cell}: packets with an interval of values for each field. A
 * test of a rule is a list of boxes of the same kind. Where only some of the cell are in a box, the
 * cell is cut there, and both parts are walked from the start, so that the walk reads as that of
 * one packet. A match that is not judged may hold: what its rule does is noted as possible, and the
 * walk goes on as if it did not match. What comes of that is "may".
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
