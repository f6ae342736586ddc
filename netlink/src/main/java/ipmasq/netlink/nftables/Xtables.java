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
public record Xtables(Kind kind, String name, int revision, Data info) implements Expression {
  static final int HIGHEST = 3;
  private static final int NAME = 1;
  private static final int REVISION = 2;
  private static final int INFO = 3;

  /** Which of the two. */
  public enum Kind {
    MATCH,
    TARGET;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  void write(MessageWriter out) {
    out.string(NAME, name).u32(REVISION, revision).bytes(INFO, info.bytes());
  }

  static Xtables read(Kind kind, Attributes attributes) throws MalformedMessage {
    return new Xtables(
        kind,
        attributes.string(NAME),
        attributes.u32(REVISION, 0),
        Data.of(attributes.bytes(INFO)));
  }

  @Override
  public String toString() {
    return "xt " + kind + " \"" + name + "\"";
  }
}
