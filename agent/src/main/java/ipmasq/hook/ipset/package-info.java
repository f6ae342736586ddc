/** What it means for a packet that a rule of iptables asks an ipset, of either iptables. */
@NullMarked
package ipmasq.hook.ipset;

import org.jspecify.annotations.NullMarked;
