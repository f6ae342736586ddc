package ipmasq.cli;

import ipmasq.backend.iptables.IptablesHook;
import ipmasq.backend.nftables.ForeignChains;
import ipmasq.config.Config.BackendChoice;
import ipmasq.hook.BaseChain;
import ipmasq.hook.Hook;
import ipmasq.net.Family;
import ipmasq.policy.Policy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Looks at the whole nat postrouting hook. Used by one thread. */
final class Hooks {
  private final IptablesHook iptables = new IptablesHook();

  /**
   * What stands there, ours and others'.
   *
   * @param chain the name of our chain in iptables
   * @param ours the policy in force
   */
  Hook at(Family family, String chain, Optional<Policy> ours) {
    List<BaseChain> chains = new ArrayList<>(iptables.chains(family, chain));
    chains.addAll(ForeignChains.at(family));
    return new Hook(family, chains, ours);
  }

  /** Whether this backend's rules stand at a hook of the kernel at all. */
  static boolean has(BackendChoice backend) {
    return backend != BackendChoice.CNI && !Settings.Cni.isDefault();
  }
}
