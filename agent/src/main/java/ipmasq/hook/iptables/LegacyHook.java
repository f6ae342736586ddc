package ipmasq.hook.iptables;

import static ipmasq.hook.HookPoint.FORWARD;
import static ipmasq.hook.HookPoint.OUTPUT;
import static ipmasq.hook.HookPoint.POSTROUTING;
import static ipmasq.hook.HookPoint.PREROUTING;

import ipmasq.hook.Action;
import ipmasq.hook.BaseChain;
import ipmasq.hook.EarlierMark;
import ipmasq.hook.HookPoint;
import ipmasq.hook.ipset.ForeignIpsets;
import ipmasq.iptables.ChildProcesses;
import ipmasq.iptables.Commands;
import ipmasq.iptables.Commands.CommandResult;
import ipmasq.iptables.LegacyTables;
import ipmasq.iptables.Programs;
import ipmasq.iptables.Variant;
import ipmasq.net.Family;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The rules of iptables-legacy at a nat hook; those of iptables-nft are read with the rest of
 * nf_tables. Used by one thread.
 *
 * <p>It is read whichever iptables the node uses, because the kernel runs both: leftover rules in
 * the other one still translate packets.
 */
public final class LegacyHook {
  private static final Duration DEADLINE = Duration.ofSeconds(10);
  private static final int NF_IP_PRI_RAW = -300;
  private static final Action.UnknownAction NOT_LISTED =
      new Action.UnknownAction("rules of iptables-legacy, which nobody here could list");

  /** The chains that packets pass before nat postrouting, by table. */
  private static final Map<String, List<HookPoint>> EARLIER =
      Map.of(
          "raw", List.of(PREROUTING, OUTPUT),
          "mangle", List.of(PREROUTING, FORWARD, OUTPUT, POSTROUTING),
          "filter", List.of(FORWARD, OUTPUT),
          "nat", List.of(PREROUTING, OUTPUT));

  private final Programs programs = Programs.ofEnvironment();
  private final LegacyTables legacy = LegacyTables.ofKernel();
  private final Commands commands = new ChildProcesses(programs, DEADLINE);

  /** Whether there is a legacy nat table; without one no program is run. */
  public boolean exists(Family family) {
    return legacy.look(family, "nat") != LegacyTables.Presence.NOT_THERE;
  }

  /**
   * The chain at nat postrouting, if there is a legacy table, and those that keep packets from
   * being tracked, if there are any.
   *
   * @param ourChain the chain that holds the policy in force, if legacy holds it
   */
  public List<BaseChain> postrouting(
      Family family, Optional<String> ourChain, ForeignIpsets ipsets) {
    List<BaseChain> chains = new ArrayList<>();
    read(family, "nat", POSTROUTING, BaseChain.NF_IP_PRI_NAT_SRC, ourChain, ipsets)
        .ifPresent(chains::add);
    for (HookPoint point : List.of(PREROUTING, OUTPUT)) {
      read(family, "raw", point, NF_IP_PRI_RAW, Optional.empty(), ipsets)
          .filter(raw -> raw.has(it -> it instanceof Action.Untrack || it.equals(NOT_LISTED)))
          .map(raw -> raw.trusting(NOT_LISTED::equals))
          .ifPresent(chains::add);
    }
    return chains;
  }

  /**
   * The nat chain in which packets get another destination.
   *
   * @param point prerouting or, for the node's own packets, output
   */
  public Optional<BaseChain> services(Family family, HookPoint point, ForeignIpsets ipsets) {
    return read(family, "nat", point, BaseChain.NF_IP_PRI_NAT_DST, Optional.empty(), ipsets);
  }

  private Optional<BaseChain> read(
      Family family,
      String table,
      HookPoint point,
      int priority,
      Optional<String> ourChain,
      ForeignIpsets ipsets) {
    String name = "iptables-legacy " + (table.equals("nat") ? "" : table + " ") + point;
    LegacyTables.Presence presence = legacy.look(family, table);
    if (presence == LegacyTables.Presence.NOT_THERE) {
      return Optional.empty();
    }
    LegacyChains chains = LegacyChains.of(family, table, point, ourChain, ipsets);
    boolean read = presence == LegacyTables.Presence.THERE && save(family, table, chains::accept);
    return Optional.of(
        read && chains.isWhole()
            ? chains.base(name, priority)
            : BaseChain.unreadable(name, point, priority, NOT_LISTED.text()));
  }

  /**
   * Legacy rules that may mark packets before nat postrouting.
   *
   * @param asked the bits of the mark that matter
   */
  public List<EarlierMark> marks(Family family, long asked) {
    List<EarlierMark> marks = new ArrayList<>();
    EARLIER.forEach(
        (table, points) -> {
          if (legacy.look(family, table) == LegacyTables.Presence.THERE) {
            List<LegacyChains> chains =
                points.stream().map(each -> LegacyChains.forMarks(family, table, each)).toList();
            if (save(family, table, line -> chains.forEach(each -> each.accept(line)))
                && chains.stream().allMatch(LegacyChains::isWhole)) {
              chains.forEach(each -> marks.addAll(each.marks(asked)));
            } else {
              marks.add(EarlierMark.unknown());
            }
          }
        });
    return marks;
  }

  private boolean save(Family family, String table, Consumer<String> lines) {
    String program = program(family);
    if (program.isEmpty()) {
      return false;
    }
    CommandResult result = commands.run(List.of(program, "-t", table), "", lines);
    return result instanceof CommandResult.Ended(var status, var _) && status == 0;
  }

  /** The program with the explicit legacy name, else one whose links lead to it. */
  private String program(Family family) {
    String named = Variant.program(family, "-legacy") + "-save";
    if (programs.find(named).isPresent()) {
      return named;
    }
    String plain = Variant.program(family, "") + "-save";
    return programs.kind(plain) == Variant.VariantKind.LEGACY ? plain : "";
  }
}
