package ipmasq.backend.iptables;

import ipmasq.iptables.Commands;
import ipmasq.iptables.Commands.CommandResult;
import ipmasq.iptables.LegacyTables;
import ipmasq.iptables.Programs;
import ipmasq.iptables.Variant;
import ipmasq.net.Family;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds out which iptables the node uses, with as few processes as possible: each costs
 * milliseconds at startup.
 */
record VariantProbe(Programs programs, LegacyTables legacy, Commands commands) {
  private static final List<String> HINTS = List.of("KUBE-IPTABLES-HINT", "KUBE-KUBELET-CANARY");

  Variant variant() {
    return Variant.choose(signs());
  }

  private Variant.Signs signs() {
    Variant.VariantKind plain = programs.kind("iptables-save");
    boolean legacyMangle = mangle(Family.IPV4) || mangle(Family.IPV6);
    if (plain == Variant.VariantKind.NFT && !legacyMangle) {
      // No hint could change the choice.
      return new Variant.Signs(plain, "", "", "");
    }
    Hint nft = programs.find("iptables-nft-save").isPresent() ? hint("-nft") : new Hint("", "");
    boolean askLegacy =
        nft.chain.isEmpty() && legacyMangle && programs.find("iptables-legacy-save").isPresent();
    Hint legacyHint = askLegacy ? hint("-legacy") : new Hint("", "");
    return new Variant.Signs(plain, nft.chain, legacyHint.chain, legacyHint.unreadable);
  }

  private boolean mangle(Family family) {
    return legacy.look(family, "mangle") == LegacyTables.Presence.THERE;
  }

  /**
   * The kubelet's hint in a mangle table.
   *
   * @param chain the chain's name, or empty
   * @param unreadable why the table could not be read, or empty
   */
  private record Hint(String chain, String unreadable) {}

  private Hint hint(String infix) {
    String unreadable = "";
    for (Family family : Family.values()) {
      if (infix.equals("-legacy") && !mangle(family)) {
        continue;
      }
      String program = Variant.program(family, infix) + "-save";
      List<String> found = new ArrayList<>();
      CommandResult result =
          commands.run(
              List.of(program, "-t", "mangle"),
              "",
              line ->
                  HINTS.stream().filter(h -> line.startsWith(":" + h + " ")).forEach(found::add));
      if (!found.isEmpty()) {
        return new Hint(found.getLast(), "");
      }
      if (!(result instanceof CommandResult.Ended(var status, var _) && status == 0)) {
        unreadable = FailureAdvice.of(program, family, result).message();
      }
    }
    return new Hint("", unreadable);
  }
}
