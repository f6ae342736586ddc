/**
 * What the kernel itself says that rules did to the first packets of new flows. Uses the netlink
 * module and {@code iptables} for the text of rules.
 */
@NullMarked
package ipmasq.evidence.trace;

import org.jspecify.annotations.NullMarked;
