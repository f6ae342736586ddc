package ipmasq.hook.iptables;

import ipmasq.hook.Action;
import ipmasq.hook.BaseChain;
import ipmasq.hook.EarlierMark;
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

  /** The chains that packets pass before nat postrouting, by table. */
  private static final Map<String, List<String>> EARLIER =
      Map.of(
          "raw", List.of("PREROUTING", "OUTPUT"),
          "mangle", List.of("PREROUTING", "FORWARD", "OUTPUT", "POSTROUTING"),
          "filter", List.of("FORWARD", "OUTPUT"),
          "nat", List.of("PREROUTING", "OUTPUT"));

  private final Programs programs = Programs.ofEnvironment();
  private final LegacyTables legacy = LegacyTables.ofKernel();
  private final Commands commands = new ChildProcesses(programs, DEADLINE);

  /** Whether there is a legacy nat table; without one no program is run. */
  public boolean exists(Family family) {
    return legacy.look(family, "nat") != LegacyTables.Presence.NOT_THERE;
  }

  /**
   * The chain at nat postrouting, if there is a legacy table, and the one that keeps packets from
   * being tracked, if there is one.
   *
   * @param ourChain the chain that holds the policy in force, if legacy holds it
   */
  public List<BaseChain> postrouting(Family family, Optional<String> ourChain) {
    List<BaseChain> chains = new ArrayList<>();
    read(family, "nat", "POSTROUTING", BaseChain.NF_IP_PRI_NAT_SRC, ourChain)
        .ifPresent(chains::add);
    read(family, "raw", "PREROUTING", NF_IP_PRI_RAW, Optional.empty())
        .filter(raw -> raw.has(Action.Untrack.class::isInstance))
        .map(raw -> raw.trusting(_ -> false))
        .ifPresent(chains::add);
    return chains;
  }

  /** The chain at nat prerouting. */
  public Optional<BaseChain> prerouting(Family family) {
    return read(family, "nat", "PREROUTING", BaseChain.NF_IP_PRI_NAT_DST, Optional.empty());
  }

  private Optional<BaseChain> read(
      Family family, String table, String entry, int priority, Optional<String> ourChain) {
    String name = "iptables-legacy " + (table.equals("nat") ? "" : table + " ") + entry;
    LegacyTables.Presence presence = legacy.look(family, table);
    if (presence == LegacyTables.Presence.NOT_THERE) {
      return Optional.empty();
    }
    LegacyChains chains = LegacyChains.of(family, table, entry, ourChain);
    boolean read = presence == LegacyTables.Presence.THERE && save(family, table, chains::accept);
    return Optional.of(
        read && chains.isWhole()
            ? chains.base(name, priority)
            : BaseChain.unreadable(
                name, priority, "rules of iptables-legacy, which nobody here could list"));
  }

  /**
   * Legacy rules that may mark packets before nat postrouting.
   *
   * @param asked the bits of the mark that matter
   */
  public List<EarlierMark> marks(Family family, long asked) {
    List<EarlierMark> marks = new ArrayList<>();
    EARLIER.forEach(
        (table, entries) -> {
          if (legacy.look(family, table) == LegacyTables.Presence.THERE) {
            List<LegacyChains> chains =
                entries.stream().map(e -> LegacyChains.forMarks(family, table, e)).toList();
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
