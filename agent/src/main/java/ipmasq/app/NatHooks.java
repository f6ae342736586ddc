package ipmasq.app;

import ipmasq.config.Config.BackendChoice;
import ipmasq.hook.BaseChain;
import ipmasq.hook.Hook;
import ipmasq.hook.iptables.LegacyHook;
import ipmasq.hook.nftables.BaseChains;
import ipmasq.hook.nftables.ForeignChains;
import ipmasq.hook.nftables.MarkScan;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.policy.Policy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads the nat hooks, our rules and other programs'. Used by one thread. */
public final class NatHooks {
  private final LegacyHook iptables = new LegacyHook();
  private final BaseChains bases = new BaseChains();

  /**
   * The hook at nat postrouting.
   *
   * @param backend the name of the backend that holds the policy in force
   * @param chain the name of our chain in iptables
   * @param ours the policy in force; without one our own chains are read like any other
   */
  public Hook at(Family family, String backend, String chain, Optional<Policy> ours) {
    Optional<String> ourChain = ours.map(_ -> chain);
    boolean legacy = backend.equals("iptables-legacy");
    boolean nft = backend.equals("iptables-nft") || backend.equals("iptables");
    List<BaseChain> chains =
        new ArrayList<>(
            ForeignChains.postrouting(
                bases,
                family,
                nft ? ourChain : Optional.empty(),
                ours.isPresent() && backend.equals("nftables")));
    iptables.postrouting(family, legacy ? ourChain : Optional.empty()).ifPresent(chains::add);
    Hook hook = new Hook(family, chains, ours);
    return hook.asksForMarks()
        ? new Hook(family, chains, ours, MarkScan.bits(bases, family) | iptables.markedBits(family))
        : hook;
  }

  /** The hook at nat prerouting, where services get their destination. */
  public Hook services(Ip to) {
    List<BaseChain> chains = new ArrayList<>(ForeignChains.prerouting(bases, to));
    iptables.prerouting(to.family()).ifPresent(chains::add);
    return new Hook(to.family(), chains, Optional.empty());
  }

  /** Whether rules may change there without a new nf_tables generation. */
  boolean hasLegacy(Family family) {
    return iptables.exists(family);
  }

  /** Whether this backend's rules are at a kernel hook at all. */
  public static boolean has(BackendChoice backend) {
    return backend != BackendChoice.CNI && !Settings.Cni.isWindows();
  }
}
