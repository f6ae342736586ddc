package ipmasq.backend.nftables;

import ipmasq.netlink.nftables.Table;
import ipmasq.netlink.nftables.TableFamily;

/** What kube-proxy does on this node. */
public final class KubeProxy {
  private KubeProxy() {}

  /** In nftables mode it keeps a table of its name a family. */
  public static boolean usesNftables() {
    // A socket for this question alone: the first that stays open gets the process's id as its
    // port, and the owner of a table is the one to be known by that.
    try (Kernel kernel = new Kernel()) {
      return kernel.has(new Table(TableFamily.IP, "kube-proxy"))
          || kernel.has(new Table(TableFamily.IP6, "kube-proxy"));
    } catch (Unanswered cannotTell) {
      return false;
    }
  }
}
