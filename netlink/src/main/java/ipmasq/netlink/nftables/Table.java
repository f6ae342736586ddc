package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.Message;
import ipmasq.netlink.MessageWriter;
import java.util.Set;

/**
 * A table.
 *
 * @param comment what people read; may be empty
 * @param owner the port of the socket that alone may change it; 0: none
 * @param handle the kernel's number for it; 0: not read from the kernel
 */
public record Table(
    TableFamily family, String name, Set<Flag> flags, String comment, int owner, long handle) {
  private static final int NFTA_TABLE_NAME = 1;
  private static final int NFTA_TABLE_FLAGS = 2;
  private static final int NFTA_TABLE_HANDLE = 4;
  private static final int NFTA_TABLE_USERDATA = 6;
  private static final int NFTA_TABLE_OWNER = 7;
  private static final int NFTNL_UDATA_TABLE_COMMENT = 0;

  public Table {
    flags = Set.copyOf(flags);
  }

  /** A property of a table: {@code NFT_TABLE_F_*}. */
  public enum Flag {
    /** Its chains see no packets. */
    DORMANT,
    /** Only the socket that made it may change it. */
    OWNER,
    /** It outlives its owner, and the next that makes it owns it. Since kernel 6.9. */
    PERSIST
  }

  public Table(TableFamily family, String name) {
    this(family, name, Set.of(), "", 0, 0);
  }

  public Table with(Flag... flags) {
    return new Table(family, name, Set.of(flags), comment, owner, handle);
  }

  public Table commented(String comment) {
    return new Table(family, name, flags, comment, owner, handle);
  }

  /** Names it in a request. */
  void name(MessageWriter out) {
    out.string(NFTA_TABLE_NAME, name);
  }

  void write(MessageWriter out) {
    name(out);
    out.u32(NFTA_TABLE_FLAGS, Expressions.bits(flags));
    if (!comment.isEmpty()) {
      out.bytes(NFTA_TABLE_USERDATA, Userdata.comment(NFTNL_UDATA_TABLE_COMMENT, comment));
    }
  }

  static Table read(Message message) throws MalformedMessage {
    Attributes attributes = message.attributes();
    return new Table(
        TableFamily.of(message.family()),
        attributes.string(NFTA_TABLE_NAME),
        Expressions.flags(Flag.class, attributes.u32(NFTA_TABLE_FLAGS, 0)),
        Userdata.comment(attributes, NFTA_TABLE_USERDATA, NFTNL_UDATA_TABLE_COMMENT),
        attributes.u32(NFTA_TABLE_OWNER, 0),
        attributes.u64(NFTA_TABLE_HANDLE, 0));
  }

  @Override
  public String toString() {
    return "table " + family + " " + name;
  }
}
