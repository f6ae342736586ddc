package ipmasq.backend.nftables;

import ipmasq.backend.Failure;
import ipmasq.netlink.Errno;
import ipmasq.netlink.NetlinkFailure;
import ipmasq.netlink.NetlinkUnavailable;

/** The kernel did not answer a query. Never leaves this package: it becomes a failure. */
final class QueryFailed extends Exception {
  private static final long serialVersionUID = 1;
  private final transient Failure failure;
  private final boolean passing;

  QueryFailed(String question, NetlinkFailure why) {
    super(null, null, false, false);
    passing = why instanceof NetlinkFailure.Interrupted || why instanceof NetlinkFailure.Overrun;
    failure =
        why instanceof NetlinkFailure.Refused refused
            ? failure(question + ": " + refused, refused.errno())
            : new Failure("nf_tables, " + question + ": " + why, "tried again shortly");
  }

  QueryFailed(NetlinkUnavailable why) {
    super(null, null, false, false);
    passing = false;
    failure = failure(String.valueOf(why.getMessage()), why.errno());
  }

  /** Whether a retry may succeed. */
  boolean passing() {
    return passing;
  }

  Failure failure() {
    return failure;
  }

  static Failure failure(String message, Errno errno) {
    return new Failure("nf_tables: " + message, advice(errno));
  }

  private static String advice(Errno errno) {
    if (errno.is(Errno.EPERM) || errno.is(Errno.EACCES)) {
      return "run as root, in a container with the capability NET_ADMIN";
    }
    if (errno.is(Errno.ENOMEM) || errno.is(Errno.ENOBUFS) || errno.is(Errno.EMSGSIZE)) {
      return "the kernel has no room for so much at once: tried again shortly; fewer ranges need"
          + " less";
    }
    return "does this kernel have nf_tables? --backend=iptables is the other way";
  }
}
