/**
 * The iptables programs of this node: which exist, which variant the node uses, and running one
 * with a deadline.
 */
@NullMarked
package ipmasq.iptables;

import org.jspecify.annotations.NullMarked;
