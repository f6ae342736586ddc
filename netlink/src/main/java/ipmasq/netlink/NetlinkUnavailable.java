package ipmasq.netlink;

import java.io.IOException;

/** A socket could not be opened: the kernel lacks the protocol, or we lack the permission. */
public final class NetlinkUnavailable extends IOException {
  private static final long serialVersionUID = 1;

  private final transient Errno errno;

  NetlinkUnavailable(String step, Errno errno) {
    super("netlink " + step + ": " + errno);
    this.errno = errno;
  }

  public Errno errno() {
    return errno;
  }
}
