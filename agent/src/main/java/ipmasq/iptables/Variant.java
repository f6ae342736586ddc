package ipmasq.iptables;

import ipmasq.net.Family;

/**
 * Which of the two iptables variants to use: they keep separate rules, and the node's other
 * programs must see ours.
 *
 * @param infix the infix of the programs' names: {@code -nft}, {@code -legacy} or nothing
 * @param reason why this one, for people; empty if it is simply the iptables on PATH
 */
public record Variant(VariantKind kind, String infix, String reason) {
  /** The kernel interface that holds the rules. */
  public enum VariantKind {
    NFT("iptables-nft"),
    LEGACY("iptables-legacy"),
    UNKNOWN("iptables");

    private final String text;

    VariantKind(String text) {
      this.text = text;
    }

    @Override
    public String toString() {
      return text;
    }
  }

  /**
   * The signs by which to choose.
   *
   * @param plain what the programs without an infix are
   * @param nftHint the kubelet's chain in nft's mangle table, or empty
   * @param legacyHint the kubelet's chain in legacy's mangle table, or empty
   * @param legacyUnreadable why legacy's existing mangle table could not be read, or empty
   */
  public record Signs(
      VariantKind plain, String nftHint, String legacyHint, String legacyUnreadable) {}

  /** The kubelet's hint decides; without one, what the node calls iptables. */
  public static Variant choose(Signs signs) {
    if (!signs.nftHint.isEmpty()) {
      return new Variant(VariantKind.NFT, "-nft", hinted(signs.nftHint));
    }
    if (!signs.legacyHint.isEmpty()) {
      return new Variant(VariantKind.LEGACY, "-legacy", hinted(signs.legacyHint));
    }
    if (!signs.legacyUnreadable.isEmpty()) {
      // Writing to the other one would silently leave the node's own rules as they are.
      return new Variant(
          VariantKind.LEGACY,
          "-legacy",
          "its tables exist but cannot be read ("
              + signs.legacyUnreadable
              + "), and nft has no chain of the kubelet's");
    }
    return new Variant(signs.plain, "", "");
  }

  private static String hinted(String hint) {
    return "the kubelet's chain " + hint + " is there";
  }

  /** The same choice, now that the program said what it is. */
  public Variant confirmed(VariantKind told) {
    return kind == VariantKind.UNKNOWN && told != VariantKind.UNKNOWN
        ? new Variant(told, infix, reason)
        : this;
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

  /** The other variant, whose rules this one does not see. */
  public Variant other() {
    return kind == VariantKind.LEGACY
        ? new Variant(VariantKind.NFT, "-nft", "")
        : new Variant(VariantKind.LEGACY, "-legacy", "");
  }

  public static String program(Family family, String infix) {
    return switch (family) {
      case IPV4 -> "iptables" + infix;
      case IPV6 -> "ip6tables" + infix;
    };
  }
}
