/** Reads all programs' rules in iptables-legacy for {@link ipmasq.hook}. */
@NullMarked
package ipmasq.hook.iptables;

import org.jspecify.annotations.NullMarked;
