package ipmasq.hook.iptables;

import ipmasq.hook.BaseChain;
import ipmasq.iptables.ChildProcesses;
import ipmasq.iptables.Commands;
import ipmasq.iptables.Commands.CommandResult;
import ipmasq.iptables.LegacyTables;
import ipmasq.iptables.Programs;
import ipmasq.iptables.Variant;
import ipmasq.net.Family;
import java.time.Duration;
import java.util.List;
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
  private static final long ALL = 0xffff_ffffL;

  private final Programs programs = Programs.ofEnvironment();
  private final LegacyTables legacy = LegacyTables.ofKernel();
  private final Commands commands = new ChildProcesses(programs, DEADLINE);
  private long natMarks;

  /** Whether there is a legacy nat table; without one no program is run. */
  public boolean exists(Family family) {
    return legacy.look(family, "nat") != LegacyTables.Presence.NOT_THERE;
  }

  /**
   * The chain at nat postrouting; empty if there is no legacy table.
   *
   * @param ourChain the chain that holds the policy in force, if legacy holds it
   */
  public Optional<BaseChain> postrouting(Family family, Optional<String> ourChain) {
    return read(family, "POSTROUTING", BaseChain.NF_IP_PRI_NAT_SRC, ourChain);
  }

  /** The chain at nat prerouting. */
  public Optional<BaseChain> prerouting(Family family) {
    return read(family, "PREROUTING", BaseChain.NF_IP_PRI_NAT_DST, Optional.empty());
  }

  private Optional<BaseChain> read(
      Family family, String entry, int priority, Optional<String> ourChain) {
    String name = "iptables-legacy " + entry;
    LegacyTables.Presence presence = legacy.look(family, "nat");
    if (presence == LegacyTables.Presence.NOT_THERE) {
      return Optional.empty();
    }
    LegacyChains chains = new LegacyChains(family, entry, ourChain);
    boolean read = presence == LegacyTables.Presence.THERE && save(family, "nat", chains::accept);
    return Optional.of(
        read && chains.isWhole()
            ? chains.base(name, priority)
            : BaseChain.unreadable(
                name, priority, "rules of iptables-legacy, which nobody here could list"));
  }

  /**
   * Bits of the mark that legacy rules before nat postrouting may set; all if unknown. For the nat
   * table this is from its last look.
   */
  public long markedBits(Family family) {
    boolean nat = legacy.look(family, "nat") == LegacyTables.Presence.THERE;
    long bits = nat ? natMarks : 0;
    for (String table : List.of("raw", "mangle", "filter")) {
      if (legacy.look(family, table) == LegacyTables.Presence.THERE) {
        LegacyMarks marks = new LegacyMarks();
        bits |= save(family, table, marks::accept) ? marks.bits() : ALL;
      }
    }
    return bits;
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
