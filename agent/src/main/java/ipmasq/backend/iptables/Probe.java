package ipmasq.backend.iptables;

import ipmasq.net.Family;
import java.util.List;

/**
 * Looks for the signs that tell the node's iptables, with as few processes as will do: each costs
 * milliseconds at the start.
 */
record Probe(Programs programs, LegacyTables legacy, Commands commands) {
  private static final List<String> HINTS = List.of("KUBE-IPTABLES-HINT", "KUBE-KUBELET-CANARY");

  Variant variant() {
    return Variant.choose(signs());
  }

  private Variant.Signs signs() {
    Variant.Kind plain = programs.kind("iptables-save");
    boolean legacyMangle = mangle(Family.IPV4) || mangle(Family.IPV6);
    if (plain == Variant.Kind.NFT && !legacyMangle) {
      // Whatever a hint said, it would be this one.
      return new Variant.Signs(plain, "", "");
    }
    String nft = programs.find("iptables-nft-save").isPresent() ? hint("-nft") : "";
    boolean askLegacy =
        nft.isEmpty() && legacyMangle && programs.find("iptables-legacy-save").isPresent();
    return new Variant.Signs(plain, nft, askLegacy ? hint("-legacy") : "");
  }

  private boolean mangle(Family family) {
    return legacy.look(family, "mangle") == LegacyTables.Presence.THERE;
  }

  private String hint(String infix) {
    for (Family family : Family.values()) {
      String[] found = {""};
      if (infix.equals("-legacy") && !mangle(family)) {
        continue;
      }
      commands.run(
          List.of(Variant.program(family, infix) + "-save", "-t", "mangle"),
          "",
          line -> {
            for (String hint : HINTS) {
              if (line.startsWith(":" + hint + " ")) {
                found[0] = hint;
              }
            }
          });
      if (!found[0].isEmpty()) {
        return found[0];
      }
    }
    return "";
  }
}
