package ipmasq.backend.nftables;

import ipmasq.netlink.nftables.Generation;
import ipmasq.netlink.nftables.Table;
import ipmasq.netlink.nftables.TableFamily;
import org.jspecify.annotations.Nullable;

/** What kube-proxy does on this node. Used by one thread. */
public final class KubeProxyTable {
  private final NftablesClient kernel;
  private @Nullable Generation seen;
  private boolean nftables;

  /**
   * @param table whose socket is used: a process's first netlink socket gets the process id as its
   *     port, and the table's owner should have that one
   */
  public KubeProxyTable(NftablesBackend table) {
    kernel = table.kernel();
  }

  static boolean has(NftablesClient kernel) throws QueryFailed {
    return kernel.has(new Table(TableFamily.IP, "kube-proxy"))
        || kernel.has(new Table(TableFamily.IP6, "kube-proxy"));
  }

  /** In nftables mode it keeps one table named kube-proxy per family. */
  public boolean usesNftables() {
    try {
      Generation now = kernel.generation();
      if (!now.equals(seen)) { // a table appears only with a new generation
        nftables = has(kernel);
        seen = now;
      }
      return nftables;
    } catch (QueryFailed cannotTell) {
      seen = null;
      return false;
    }
  }
}
