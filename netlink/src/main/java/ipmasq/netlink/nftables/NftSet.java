package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.Message;
import ipmasq.netlink.MessageWriter;
import ipmasq.netlink.nftables.Statement.Counter;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A named set; its elements are read and written separately.
 *
 * @param counted whether each element counts what matched it
 * @param comment what people read; may be empty
 */
public record NftSet(
    TableFamily family,
    String table,
    String name,
    KeyType key,
    Set<SetFlag> flags,
    boolean counted,
    String comment) {
  private static final int NFTA_SET_TABLE = 1;
  private static final int NFTA_SET_NAME = 2;
  private static final int NFTA_SET_FLAGS = 3;
  private static final int NFTA_SET_KEY_TYPE = 4;
  private static final int NFTA_SET_KEY_LEN = 5;
  private static final int NFTA_SET_ID = 10;
  private static final int NFTA_SET_USERDATA = 13;
  private static final int NFTA_SET_EXPR = 17;
  private static final int NFTA_SET_EXPRESSIONS = 18;
  private static final int NFTNL_UDATA_SET_KEYBYTEORDER = 0;
  private static final int NFTNL_UDATA_SET_COMMENT = 7;
  private static final int BYTEORDER_BIG_ENDIAN = 2; // nft's own
  private static final int NFT_SET_EXPR = 0x100;

  public NftSet {
    flags = Set.copyOf(flags);
  }

  /** A property of a set: {@code NFT_SET_*}. */
  public enum SetFlag {
    ANONYMOUS,
    CONSTANT,
    /** Its elements are ranges. */
    INTERVAL,
    MAP,
    TIMEOUT,
    /** {@code NFT_SET_EVAL}. */
    DYNAMIC,
    OBJECT,
    /** {@code NFT_SET_CONCAT}. */
    CONCATENATION,
    /**
     * {@code NFT_SET_EXPR}, where it is more than a counter: its elements match as long as their
     * limit or quota lasts.
     */
    EXPRESSION
  }

  /** A set of ranges. */
  public static NftSet intervals(Table table, String name, KeyType key) {
    Set<SetFlag> flags = Set.of(SetFlag.INTERVAL);
    return new NftSet(table.family(), table.name(), name, key, flags, false, "");
  }

  /** A set of single keys. */
  public static NftSet keys(Table table, String name, KeyType key) {
    return new NftSet(table.family(), table.name(), name, key, Set.of(), false, "");
  }

  public NftSet commented(String comment) {
    return new NftSet(family, table, name, key, flags, counted, comment);
  }

  /** The same with a counter for each element. */
  public NftSet withCounters() {
    return new NftSet(family, table, name, key, flags, true, comment);
  }

  public boolean hasIntervals() {
    return flags.contains(SetFlag.INTERVAL);
  }

  /** Names it in a request. */
  void name(MessageWriter out) {
    out.string(NFTA_SET_TABLE, table).string(NFTA_SET_NAME, name);
  }

  void write(MessageWriter out, int id) {
    name(out);
    out.u32(NFTA_SET_FLAGS, Expressions.bits(flags) | (counted ? NFT_SET_EXPR : 0))
        .u32(NFTA_SET_KEY_TYPE, key.id())
        .u32(NFTA_SET_KEY_LEN, key.length())
        .u32(NFTA_SET_ID, id);
    out.bytes(NFTA_SET_USERDATA, userdata());
    if (counted) {
      Expressions.write(out, NFTA_SET_EXPR, new Counter(0, 0));
    }
  }

  /** nft records the key's byte order here and uses it when it lists the set. */
  private byte[] userdata() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(new byte[] {NFTNL_UDATA_SET_KEYBYTEORDER, 4, BYTEORDER_BIG_ENDIAN, 0, 0, 0});
    if (!comment.isEmpty()) {
      Userdata.put(out, NFTNL_UDATA_SET_COMMENT, comment);
    }
    return out.toByteArray();
  }

  static NftSet read(Message message) throws MalformedMessage {
    Attributes attributes = message.attributes();
    Set<SetFlag> flags =
        Expressions.flags(SetFlag.class, attributes.u32(NFTA_SET_FLAGS, 0) & ~NFT_SET_EXPR);
    List<Expression> expressions = expressions(attributes);
    if (!expressions.stream().allMatch(Counter.class::isInstance)) {
      flags.add(SetFlag.EXPRESSION);
    }
    return new NftSet(
        TableFamily.of(message.family()),
        attributes.string(NFTA_SET_TABLE),
        attributes.string(NFTA_SET_NAME),
        new KeyType(attributes.u32(NFTA_SET_KEY_TYPE, 0), attributes.u32(NFTA_SET_KEY_LEN)),
        flags,
        expressions.stream().anyMatch(Counter.class::isInstance),
        Userdata.comment(attributes, NFTA_SET_USERDATA, NFTNL_UDATA_SET_COMMENT));
  }

  private static List<Expression> expressions(Attributes attributes) throws MalformedMessage {
    if (attributes.has(NFTA_SET_EXPR)) {
      return List.of(Expressions.read(attributes.nested(NFTA_SET_EXPR)));
    }
    List<Expression> all = new ArrayList<>();
    for (Attributes expression : attributes.list(NFTA_SET_EXPRESSIONS)) {
      all.add(Expressions.read(expression));
    }
    return all;
  }

  @Override
  public String toString() {
    return "set " + family + " " + table + " " + name;
  }
}
