package ipmasq.app;

import ipmasq.config.Config.BackendChoice;
import ipmasq.hook.BaseChain;
import ipmasq.hook.EarlierMark;
import ipmasq.hook.Hook;
import ipmasq.hook.HookPoint;
import ipmasq.hook.iptables.LegacyHook;
import ipmasq.hook.nftables.BaseChains;
import ipmasq.hook.nftables.ForeignChains;
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
    chains.addAll(iptables.postrouting(family, legacy ? ourChain : Optional.empty()));
    return withMarks(new Hook(family, chains, ours));
  }

  /** Rules that mark packets before are read only if somebody asks for marks. */
  private Hook withMarks(Hook hook) {
    long asked = hook.askedBits();
    if (asked == 0) {
      return hook;
    }
    List<EarlierMark> marks = new ArrayList<>(ForeignChains.marks(bases, hook.family(), asked));
    marks.addAll(iptables.marks(hook.family(), asked));
    return new Hook(hook.family(), hook.chains(), hook.ours(), marks);
  }

  /**
   * The nat hook where services get their destination.
   *
   * @param ofNode whether the packets are the node's own
   */
  public Hook services(Ip to, boolean ofNode) {
    HookPoint point = ofNode ? HookPoint.OUTPUT : HookPoint.PREROUTING;
    List<BaseChain> chains = new ArrayList<>(ForeignChains.services(bases, to, point));
    iptables.services(to.family(), point).ifPresent(chains::add);
    return withMarks(new Hook(to.family(), chains, Optional.empty()));
  }

  /** Whether the last look may have missed a chain, because it did not list them all. */
  boolean mayHaveMissed() {
    return bases.isFromCache();
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
