package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;
import java.util.Locale;

/**
 * A match or target of iptables, as {@code iptables-nft} puts it into a rule.
 *
 * @param info its own structure, in host order
 */
public record Xtables(XtKind kind, String name, int revision, Data info) implements Expression {
  static final int HIGHEST = 3;

  // NFTA_MATCH_* has the same numbers.
  private static final int NFTA_TARGET_NAME = 1;
  private static final int NFTA_TARGET_REV = 2;
  private static final int NFTA_TARGET_INFO = 3;

  /** Which of the two. */
  public enum XtKind {
    MATCH,
    TARGET;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  void write(MessageWriter out) {
    out.string(NFTA_TARGET_NAME, name)
        .u32(NFTA_TARGET_REV, revision)
        .bytes(NFTA_TARGET_INFO, info.bytes());
  }

  static Xtables read(XtKind kind, Attributes attributes) throws MalformedMessage {
    return new Xtables(
        kind,
        attributes.string(NFTA_TARGET_NAME),
        attributes.u32(NFTA_TARGET_REV, 0),
        Data.of(attributes.bytes(NFTA_TARGET_INFO)));
  }

  @Override
  public String toString() {
    return "xt " + kind + " \"" + name + "\"";
  }
}
