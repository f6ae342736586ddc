/** Netlink sockets and messages over {@code java.lang.foreign}. */
@NullMarked
package ipmasq.netlink;

import org.jspecify.annotations.NullMarked;
