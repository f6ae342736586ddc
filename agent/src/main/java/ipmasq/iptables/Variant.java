package ipmasq.iptables;

import ipmasq.net.Family;

/**
 * One of the two kinds of iptables: they keep separate rules, and the node's other programs must
 * see ours.
 *
 * @param infix the infix of the programs' names: {@code -nft}, {@code -legacy} or nothing
 * @param reason why this one, for people; empty if it is simply the iptables on PATH
 */
public record Variant(Kind kind, String infix, String reason) {
  /** The kernel interface that holds the rules. */
  public enum Kind {
    NFT("iptables-nft"),
    LEGACY("iptables-legacy"),
    /** Its file has another name, such as a script's. */
    UNKNOWN("iptables");

    private final String text;

    Kind(String text) {
      this.text = text;
    }

    /** The kind whose rules this one does not see. */
    public Variant other() {
      return this == LEGACY ? new Variant(NFT, "-nft", "") : new Variant(LEGACY, "-legacy", "");
    }

    @Override
    public String toString() {
      return text;
    }
  }

  public String program(Family family) {
    return program(family, infix);
  }

  public String save(Family family) {
    return program(family) + "-save";
  }

  public String restore(Family family) {
    return program(family) + "-restore";
  }

  public static String program(Family family, String infix) {
    return switch (family) {
      case IPV4 -> "iptables" + infix;
      case IPV6 -> "ip6tables" + infix;
    };
  }
}
