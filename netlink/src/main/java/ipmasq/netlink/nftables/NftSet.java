package ipmasq.netlink.nftables;

import ipmasq.netlink.AttributeReader;
import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageReader;
import ipmasq.netlink.MessageWriter;
import java.io.ByteArrayOutputStream;
import java.util.EnumSet;
import java.util.Set;

/**
 * A named set; its elements are read and written apart from it.
 *
 * @param size how many elements it takes at most; 0: no limit. An interval has two
 * @param counted whether each element counts what matched it
 * @param comment what people read; may be empty
 * @param handle the kernel's number for it; 0: not read from the kernel
 */
public record NftSet(
    TableFamily family,
    String table,
    String name,
    KeyType key,
    Set<Flag> flags,
    int size,
    boolean counted,
    String comment,
    long handle) {
  private static final int TABLE = 1;
  private static final int NAME = 2;
  private static final int FLAGS = 3;
  private static final int KEY_TYPE = 4;
  private static final int KEY_LENGTH = 5;
  private static final int DESCRIPTION = 9;
  private static final int ID = 10;
  private static final int USERDATA = 13;
  private static final int HANDLE = 16;
  private static final int EXPRESSION = 17;
  private static final int EXPRESSIONS = 18;
  private static final int DESCRIBED_SIZE = 1;
  private static final int KEY_BYTE_ORDER = 0;
  private static final int COMMENT = 7;
  private static final int BIG_ENDIAN = 2;
  private static final int WITH_EXPRESSIONS = 0x100;

  public NftSet {
    flags = Set.copyOf(flags);
  }

  /** A property of a set. */
  public enum Flag {
    ANONYMOUS,
    CONSTANT,
    /** Its elements are ranges. */
    INTERVAL,
    MAP,
    TIMEOUT,
    DYNAMIC,
    OBJECT,
    CONCATENATION;

    private int bit() {
      return 1 << ordinal();
    }
  }

  /** A set of ranges. */
  public static NftSet intervals(Table table, String name, KeyType key) {
    Set<Flag> flags = Set.of(Flag.INTERVAL);
    return new NftSet(table.family(), table.name(), name, key, flags, 0, false, "", 0);
  }

  /** A set of single keys. */
  public static NftSet keys(Table table, String name, KeyType key) {
    return new NftSet(table.family(), table.name(), name, key, Set.of(), 0, false, "", 0);
  }

  public NftSet commented(String comment) {
    return new NftSet(family, table, name, key, flags, size, counted, comment, handle);
  }

  /** The same with a counter for each element. */
  public NftSet withCounters() {
    return new NftSet(family, table, name, key, flags, size, true, comment, handle);
  }

  /** The same with a limit to the number of elements. */
  public NftSet limited(int size) {
    return new NftSet(family, table, name, key, flags, size, counted, comment, handle);
  }

  public boolean hasIntervals() {
    return flags.contains(Flag.INTERVAL);
  }

  /** Names it in a request. */
  void name(MessageWriter out) {
    out.string(TABLE, table).string(NAME, name);
  }

  void write(MessageWriter out, int id) {
    name(out);
    int bits = counted ? WITH_EXPRESSIONS : 0;
    for (Flag flag : flags) {
      bits |= flag.bit();
    }
    out.u32(FLAGS, bits).u32(KEY_TYPE, key.id()).u32(KEY_LENGTH, key.length()).u32(ID, id);
    if (size > 0) {
      int description = out.nest(DESCRIPTION);
      out.u32(DESCRIBED_SIZE, size).end(description);
    }
    out.bytes(USERDATA, userdata());
    if (counted) {
      Expressions.write(out, EXPRESSION, new Counter(0, 0));
    }
  }

  /** nft notes the byte order of the key there, to know it again when it lists the set. */
  private byte[] userdata() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(new byte[] {KEY_BYTE_ORDER, 4, BIG_ENDIAN, 0, 0, 0});
    if (!comment.isEmpty()) {
      Userdata.put(out, COMMENT, comment);
    }
    return out.toByteArray();
  }

  static NftSet read(MessageReader message) throws MalformedMessage {
    Attributes attributes = Attributes.of(message.attributes(), EXPRESSIONS);
    int bits = attributes.u32(FLAGS, 0);
    Set<Flag> flags = EnumSet.noneOf(Flag.class);
    for (Flag flag : Flag.values()) {
      if ((bits & flag.bit()) != 0) {
        flags.add(flag);
      }
    }
    return new NftSet(
        TableFamily.of(message.family()),
        attributes.string(TABLE),
        attributes.string(NAME),
        new KeyType(attributes.u32(KEY_TYPE, 0), attributes.u32(KEY_LENGTH)),
        flags,
        attributes.nested(DESCRIPTION, DESCRIBED_SIZE).u32(DESCRIBED_SIZE, 0),
        counts(attributes),
        attributes.has(USERDATA) ? Userdata.comment(attributes.bytes(USERDATA), COMMENT) : "",
        attributes.u64(HANDLE, 0));
  }

  private static boolean counts(Attributes attributes) throws MalformedMessage {
    if (attributes.has(EXPRESSION)) {
      return Expressions.read(attributes.list(EXPRESSION)) instanceof Counter;
    }
    boolean counts = false;
    AttributeReader list = attributes.list(EXPRESSIONS);
    while (list.next()) {
      counts |= Expressions.read(list.nested()) instanceof Counter;
    }
    return counts;
  }

  @Override
  public String toString() {
    return "set " + family + " " + table + " " + name;
  }
}
