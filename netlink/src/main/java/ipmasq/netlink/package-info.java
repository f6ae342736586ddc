/**
 * Netlink sockets and messages over {@code java.lang.foreign}. Uses nothing but {@code java.base};
 * no memory segment leaves this package.
 *
 * <p>A {@link ipmasq.netlink.MessageWriter} writes a request, a {@link
 * ipmasq.netlink.NetlinkSocket} sends it and hands the answer to a handler as a {@link
 * ipmasq.netlink.Message}, whose {@link ipmasq.netlink.Attributes} never read outside it. What the
 * kernel refuses, loses or garbles is a value: {@link ipmasq.netlink.NetlinkFailure}.
 */
@NullMarked
package ipmasq.netlink;

import org.jspecify.annotations.NullMarked;
