/**
 * Established connections, over netlink: those that a new policy treats differently are dropped.
 */
@NullMarked
package ipmasq.backend.conntrack;

import org.jspecify.annotations.NullMarked;
