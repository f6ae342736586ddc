package ipmasq.backend.iptables;

import ipmasq.iptables.Commands;
import ipmasq.iptables.Commands.CommandResult;
import ipmasq.iptables.LegacyTables;
import ipmasq.iptables.Programs;
import ipmasq.iptables.Variant;
import ipmasq.iptables.Variant.Kind;
import ipmasq.net.Family;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds out which iptables the node uses: the kubelet's hint decides, and without one what the node
 * calls iptables. With as few processes as possible: each costs milliseconds at startup.
 */
record VariantProbe(Programs programs, LegacyTables legacy, Commands commands) {
  private static final List<String> HINTS = List.of("KUBE-IPTABLES-HINT", "KUBE-KUBELET-CANARY");

  /**
   * The kubelet's hint in a mangle table.
   *
   * @param chain the chain's name, or empty
   * @param unreadable why the table could not be read, or empty
   */
  private record Hint(String chain, String unreadable) {}

  Variant variant() {
    Kind plain = programs.kind("iptables-save");
    boolean legacyMangle = mangle(Family.IPV4) || mangle(Family.IPV6);
    if (plain == Kind.NFT && !legacyMangle) {
      return new Variant(plain, "", ""); // no hint could change that
    }
    Hint nft = hint("-nft");
    if (!nft.chain.isEmpty()) {
      return new Variant(Kind.NFT, "-nft", "the kubelet's chain " + nft.chain + " is there");
    }
    Hint old = legacyMangle ? hint("-legacy") : new Hint("", "");
    if (!old.chain.isEmpty()) {
      return new Variant(Kind.LEGACY, "-legacy", "the kubelet's chain " + old.chain + " is there");
    }
    if (!old.unreadable.isEmpty()) {
      // Writing to the other one would silently leave the node's own rules as they are.
      String reason =
          "its tables exist but cannot be read (" + old.unreadable + "), and nft has no";
      return new Variant(Kind.LEGACY, "-legacy", reason + " chain of the kubelet's");
    }
    return new Variant(plain, "", "");
  }

  private boolean mangle(Family family) {
    return legacy.look(family, "mangle") == LegacyTables.Presence.THERE;
  }

  private Hint hint(String infix) {
    if (programs.find("iptables" + infix + "-save").isEmpty()) {
      return new Hint("", "");
    }
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
