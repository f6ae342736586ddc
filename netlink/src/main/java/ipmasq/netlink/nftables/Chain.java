package ipmasq.netlink.nftables;

import ipmasq.netlink.AttributeReader;
import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageReader;
import ipmasq.netlink.MessageWriter;
import ipmasq.netlink.nftables.Statement.Counter;
import java.util.Optional;

/**
 * A chain.
 *
 * @param base where packets enter it; empty: by jumps only
 * @param comment what people read; may be empty
 * @param handle the kernel's number for it; 0: not read from the kernel
 */
public record Chain(
    TableFamily family,
    String table,
    String name,
    Optional<BaseHook> base,
    String comment,
    long handle) {
  private static final int NFTA_CHAIN_TABLE = 1;
  private static final int NFTA_CHAIN_HANDLE = 2;
  private static final int NFTA_CHAIN_NAME = 3;
  private static final int NFTA_CHAIN_HOOK = 4;
  private static final int NFTA_CHAIN_POLICY = 5;
  private static final int NFTA_CHAIN_USE = 6;
  private static final int NFTA_CHAIN_TYPE = 7;
  private static final int NFTA_CHAIN_COUNTERS = 8;
  private static final int NFTA_CHAIN_USERDATA = 12;
  private static final int NFTA_HOOK_HOOKNUM = 1;
  private static final int NFTA_HOOK_PRIORITY = 2;
  private static final int NFTNL_UDATA_CHAIN_COMMENT = 0;

  /**
   * What makes a base chain.
   *
   * @param type {@code filter}, {@code nat} or {@code route}
   * @param priority chains of one hook run in this order, the lowest first
   * @param policy what happens at its end to packets that no rule decided on
   * @param counter what passed, where the chain counts
   */
  public record BaseHook(
      String type, Hook hook, int priority, Policy policy, Optional<Counter> counter) {}

  /** What happens at the end of a base chain: {@code NF_DROP} or {@code NF_ACCEPT}. */
  public enum Policy {
    DROP,
    ACCEPT
  }

  /** A chain that rules jump to. */
  public Chain(Table table, String name) {
    this(table.family(), table.name(), name, Optional.empty(), "", 0);
  }

  /** A base chain that accepts what its rules do not decide. */
  public Chain(Table table, String name, String type, Hook hook, int priority) {
    this(
        table.family(),
        table.name(),
        name,
        Optional.of(new BaseHook(type, hook, priority, Policy.ACCEPT, Optional.empty())),
        "",
        0);
  }

  public Chain commented(String comment) {
    return new Chain(family, table, name, base, comment, handle);
  }

  /** Names it in a request. */
  void name(MessageWriter out) {
    out.string(NFTA_CHAIN_TABLE, table).string(NFTA_CHAIN_NAME, name);
  }

  void write(MessageWriter out) {
    name(out);
    if (base.isPresent()) {
      BaseHook it = base.get();
      out.string(NFTA_CHAIN_TYPE, it.type).u32(NFTA_CHAIN_POLICY, it.policy.ordinal());
      int hook = out.nest(NFTA_CHAIN_HOOK);
      out.u32(NFTA_HOOK_HOOKNUM, it.hook.number(family))
          .u32(NFTA_HOOK_PRIORITY, it.priority)
          .end(hook);
      if (it.counter.isPresent()) {
        int counters = out.nest(NFTA_CHAIN_COUNTERS);
        it.counter.get().write(out);
        out.end(counters);
      }
    }
    if (!comment.isEmpty()) {
      out.bytes(NFTA_CHAIN_USERDATA, Userdata.comment(NFTNL_UDATA_CHAIN_COMMENT, comment));
    }
  }

  static boolean isBase(MessageReader message) throws MalformedMessage {
    AttributeReader attributes = message.attributes();
    while (attributes.next()) {
      if (attributes.type() == NFTA_CHAIN_HOOK) {
        return true;
      }
    }
    return false;
  }

  static Chain read(MessageReader message) throws MalformedMessage {
    TableFamily family = TableFamily.of(message.family());
    Attributes attributes = Attributes.of(message.attributes(), NFTA_CHAIN_USERDATA);
    return new Chain(
        family,
        attributes.string(NFTA_CHAIN_TABLE),
        attributes.string(NFTA_CHAIN_NAME),
        attributes.has(NFTA_CHAIN_HOOK) ? Optional.of(base(family, attributes)) : Optional.empty(),
        attributes.has(NFTA_CHAIN_USERDATA)
            ? Userdata.comment(attributes.bytes(NFTA_CHAIN_USERDATA), NFTNL_UDATA_CHAIN_COMMENT)
            : "",
        attributes.u64(NFTA_CHAIN_HANDLE, 0));
  }

  static int uses(MessageReader message) throws MalformedMessage {
    return Attributes.of(message.attributes(), NFTA_CHAIN_USERDATA).u32(NFTA_CHAIN_USE);
  }

  private static BaseHook base(TableFamily family, Attributes attributes) throws MalformedMessage {
    Attributes hook = attributes.nested(NFTA_CHAIN_HOOK, NFTA_HOOK_PRIORITY);
    return new BaseHook(
        attributes.string(NFTA_CHAIN_TYPE),
        Hook.of(family, hook.u32(NFTA_HOOK_HOOKNUM)),
        hook.u32(NFTA_HOOK_PRIORITY),
        attributes.u32(NFTA_CHAIN_POLICY) == 0 ? Policy.DROP : Policy.ACCEPT,
        attributes.has(NFTA_CHAIN_COUNTERS)
            ? Optional.of(Counter.read(attributes.nested(NFTA_CHAIN_COUNTERS, Counter.HIGHEST)))
            : Optional.empty());
  }

  @Override
  public String toString() {
    return "chain " + family + " " + table + " " + name;
  }
}
