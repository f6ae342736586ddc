package ipmasq.backend.iptables;

import ipmasq.backend.iptables.Commands.Result;
import ipmasq.hook.BaseChain;
import ipmasq.net.Family;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * What both kinds of iptables have at the nat postrouting hook. Used by one thread.
 *
 * <p>Both kinds, because the kernel runs both: the rules of the one that the node does not use any
 * more still translate packets.
 */
public final class IptablesHook {
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  private final Programs programs = Programs.ofEnvironment();
  private final LegacyTables legacy = LegacyTables.ofKernel();
  private final Commands commands = new ChildProcesses(programs, DEADLINE);

  /** The chains of each kind that there is; one that cannot be read is left out. */
  public List<BaseChain> chains(Family family, String ourChain) {
    List<BaseChain> chains = new ArrayList<>();
    Names names = Names.of(ourChain);
    for (Variant.Kind kind : List.of(Variant.Kind.LEGACY, Variant.Kind.NFT)) {
      boolean absent =
          kind == Variant.Kind.LEGACY && legacy.look(family, "nat") != LegacyTables.Presence.THERE;
      String program = absent ? "" : program(kind, family);
      if (!program.isEmpty()) {
        Postrouting postrouting = new Postrouting(family, names);
        Result result = commands.run(List.of(program, "-t", "nat"), "", postrouting::accept);
        if (result instanceof Result.Ended(var status, var _) && status == 0) {
          chains.add(postrouting.chain(kind.toString(), postrouting.chains()));
        }
      }
    }
    return chains;
  }

  /** The program of one kind, by the name that says so or by what it really is. */
  private String program(Variant.Kind kind, Family family) {
    String infix = kind == Variant.Kind.NFT ? "-nft" : "-legacy";
    String named = Variant.program(family, infix) + "-save";
    if (programs.find(named).isPresent()) {
      return named;
    }
    String plain = Variant.program(family, "") + "-save";
    return programs.kind(plain) == kind ? plain : "";
  }
}
