package ipmasq.app;

import ipmasq.config.Config.BackendChoice;
import ipmasq.hook.BaseChain;
import ipmasq.hook.EarlierMark;
import ipmasq.hook.Hook;
import ipmasq.hook.HookPoint;
import ipmasq.hook.ipset.ForeignIpsets;
import ipmasq.hook.iptables.LegacyHook;
import ipmasq.hook.nftables.BaseChains;
import ipmasq.hook.nftables.ForeignChains;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.policy.Policy;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** Reads the nat hooks, our rules and other programs'. Used by one thread. */
public final class NatHooks {
  private final LegacyHook iptables = new LegacyHook();
  private final BaseChains bases = new BaseChains();
  private final Set<Family> withIpsets = EnumSet.noneOf(Family.class);

  /**
   * The hook at nat postrouting.
   *
   * @param backend the name of the backend that holds the policy in force
   * @param chain the name of our chain in iptables
   * @param ours the policy in force; without one our own chains are read like any other
   */
  public Hook at(Family family, String backend, String chain, Optional<Policy> ours) {
    return look(family, ipsets -> at(family, backend, chain, ours, ipsets));
  }

  /** Reads all again if a rule fills an ipset that another one was seen to ask before. */
  private Hook look(Family family, Function<ForeignIpsets, Hook> read) {
    try (ForeignIpsets ipsets = ForeignIpsets.ofKernel()) {
      Hook first = read.apply(ipsets);
      Hook hook = ipsets.isOutdated() ? read.apply(ipsets) : first;
      if (ipsets.wereAsked()) {
        withIpsets.add(family);
      } else {
        withIpsets.remove(family);
      }
      return hook;
    }
  }

  private Hook at(
      Family family, String backend, String chain, Optional<Policy> ours, ForeignIpsets ipsets) {
    Optional<String> ourChain = ours.map(_ -> chain);
    boolean legacy = backend.equals("iptables-legacy");
    boolean nft = backend.equals("iptables-nft") || backend.equals("iptables");
    List<BaseChain> chains =
        new ArrayList<>(
            ForeignChains.postrouting(
                bases,
                ipsets,
                family,
                nft ? ourChain : Optional.empty(),
                ours.isPresent() && backend.equals("nftables")));
    chains.addAll(iptables.postrouting(family, legacy ? ourChain : Optional.empty(), ipsets));
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
    return look(
        to.family(),
        ipsets -> {
          List<BaseChain> chains =
              new ArrayList<>(ForeignChains.services(bases, ipsets, to, point));
          iptables.services(to.family(), point, ipsets).ifPresent(chains::add);
          return withMarks(new Hook(to.family(), chains, Optional.empty()));
        });
  }

  /** Whether the last look may have missed a chain, because it did not list them all. */
  boolean mayHaveMissed() {
    return bases.isFromCache();
  }

  /** Whether rules may change there without a new nf_tables generation. */
  boolean hasLegacy(Family family) {
    return iptables.exists(family);
  }

  /** Whether a rule asks an ipset, whose content changes without a new nf_tables generation. */
  boolean hasIpsets() {
    return !withIpsets.isEmpty();
  }

  /** Whether this backend's rules are at a kernel hook at all. */
  public static boolean has(BackendChoice backend) {
    return backend != BackendChoice.CNI && !Settings.Cni.isWindows();
  }
}
