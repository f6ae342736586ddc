package ipmasq.netlink.nftables;

import ipmasq.netlink.AttributeReader;
import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageReader;
import ipmasq.netlink.MessageWriter;
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
    Optional<Base> base,
    String comment,
    long handle) {
  private static final int TABLE = 1;
  private static final int HANDLE = 2;
  private static final int NAME = 3;
  private static final int HOOK = 4;
  private static final int POLICY = 5;
  private static final int USE = 6;
  private static final int TYPE = 7;
  private static final int COUNTERS = 8;
  private static final int USERDATA = 12;
  private static final int HOOK_NUMBER = 1;
  private static final int HOOK_PRIORITY = 2;
  private static final int COMMENT = 0;

  /**
   * What makes a base chain.
   *
   * @param type {@code filter}, {@code nat} or {@code route}
   * @param priority chains of one hook run in this order, the lowest first
   * @param policy what happens at its end to packets that no rule decided on
   * @param counter what passed, where the chain counts
   */
  public record Base(
      String type, Hook hook, int priority, Policy policy, Optional<Counter> counter) {}

  /** What happens at the end of a base chain. */
  public enum Policy {
    DROP,
    ACCEPT
  }

  /** A chain that rules jump to. */
  public Chain(Table table, String name) {
    this(table.family(), table.name(), name, Optional.empty(), "", 0);
  }

  /** A base chain that accepts what its rules leave. */
  public Chain(Table table, String name, String type, Hook hook, int priority) {
    this(
        table.family(),
        table.name(),
        name,
        Optional.of(new Base(type, hook, priority, Policy.ACCEPT, Optional.empty())),
        "",
        0);
  }

  public Chain commented(String comment) {
    return new Chain(family, table, name, base, comment, handle);
  }

  /** Names it in a request. */
  void name(MessageWriter out) {
    out.string(TABLE, table).string(NAME, name);
  }

  void write(MessageWriter out) {
    name(out);
    if (base.isPresent()) {
      Base it = base.get();
      out.string(TYPE, it.type).u32(POLICY, it.policy.ordinal());
      int hook = out.nest(HOOK);
      out.u32(HOOK_NUMBER, it.hook.number(family)).u32(HOOK_PRIORITY, it.priority).end(hook);
      if (it.counter.isPresent()) {
        int counters = out.nest(COUNTERS);
        it.counter.get().write(out);
        out.end(counters);
      }
    }
    if (!comment.isEmpty()) {
      out.bytes(USERDATA, Userdata.comment(COMMENT, comment));
    }
  }

  static boolean isBase(MessageReader message) throws MalformedMessage {
    AttributeReader attributes = message.attributes();
    while (attributes.next()) {
      if (attributes.type() == HOOK) {
        return true;
      }
    }
    return false;
  }

  static Chain read(MessageReader message) throws MalformedMessage {
    TableFamily family = TableFamily.of(message.family());
    Attributes attributes = Attributes.of(message.attributes(), USERDATA);
    return new Chain(
        family,
        attributes.string(TABLE),
        attributes.string(NAME),
        attributes.has(HOOK) ? Optional.of(base(family, attributes)) : Optional.empty(),
        attributes.has(USERDATA) ? Userdata.comment(attributes.bytes(USERDATA), COMMENT) : "",
        attributes.u64(HANDLE, 0));
  }

  static int uses(MessageReader message) throws MalformedMessage {
    return Attributes.of(message.attributes(), USERDATA).u32(USE);
  }

  private static Base base(TableFamily family, Attributes attributes) throws MalformedMessage {
    Attributes hook = attributes.nested(HOOK, HOOK_PRIORITY);
    return new Base(
        attributes.string(TYPE),
        Hook.of(family, hook.u32(HOOK_NUMBER)),
        hook.u32(HOOK_PRIORITY),
        attributes.u32(POLICY) == 0 ? Policy.DROP : Policy.ACCEPT,
        attributes.has(COUNTERS)
            ? Optional.of(Counter.read(attributes.nested(COUNTERS, Counter.HIGHEST)))
            : Optional.empty());
  }

  @Override
  public String toString() {
    return "chain " + family + " " + table + " " + name;
  }
}
