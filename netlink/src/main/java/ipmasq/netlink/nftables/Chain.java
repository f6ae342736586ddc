package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.Message;
import ipmasq.netlink.MessageWriter;
import java.util.Optional;

/**
 * A chain.
 *
 * @param base where packets enter it; empty: by jumps only
 */
public record Chain(TableFamily family, String table, String name, Optional<BaseHook> base) {
  private static final int NFTA_CHAIN_TABLE = 1;
  private static final int NFTA_CHAIN_NAME = 3;
  private static final int NFTA_CHAIN_HOOK = 4;
  private static final int NFTA_CHAIN_POLICY = 5;
  private static final int NFTA_CHAIN_USE = 6;
  private static final int NFTA_CHAIN_TYPE = 7;
  private static final int NFTA_HOOK_HOOKNUM = 1;
  private static final int NFTA_HOOK_PRIORITY = 2;

  /**
   * What makes a base chain.
   *
   * @param type {@code filter}, {@code nat} or {@code route}
   * @param priority chains of one hook run in this order, the lowest first
   * @param policy what happens at its end to packets that no rule decided on
   */
  public record BaseHook(String type, Hook hook, int priority, Policy policy) {}

  /** What happens at the end of a base chain: {@code NF_DROP} or {@code NF_ACCEPT}. */
  public enum Policy {
    DROP,
    ACCEPT
  }

  /** A chain that rules jump to. */
  public Chain(Table table, String name) {
    this(table.family(), table.name(), name, Optional.empty());
  }

  /** A base chain that accepts what its rules do not decide. */
  public Chain(Table table, String name, String type, Hook hook, int priority) {
    this(
        table.family(),
        table.name(),
        name,
        Optional.of(new BaseHook(type, hook, priority, Policy.ACCEPT)));
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
    }
  }

  static Chain read(Message message) throws MalformedMessage {
    TableFamily family = TableFamily.of(message.family());
    Attributes attributes = message.attributes();
    return new Chain(
        family,
        attributes.string(NFTA_CHAIN_TABLE),
        attributes.string(NFTA_CHAIN_NAME),
        attributes.has(NFTA_CHAIN_HOOK) ? Optional.of(base(family, attributes)) : Optional.empty());
  }

  static int uses(Message message) throws MalformedMessage {
    return message.attributes().u32(NFTA_CHAIN_USE);
  }

  private static BaseHook base(TableFamily family, Attributes attributes) throws MalformedMessage {
    Attributes hook = attributes.nested(NFTA_CHAIN_HOOK);
    return new BaseHook(
        attributes.string(NFTA_CHAIN_TYPE),
        Hook.of(family, hook.u32(NFTA_HOOK_HOOKNUM)),
        hook.u32(NFTA_HOOK_PRIORITY),
        attributes.u32(NFTA_CHAIN_POLICY) == 0 ? Policy.DROP : Policy.ACCEPT);
  }

  @Override
  public String toString() {
    return "chain " + family + " " + table + " " + name;
  }
}
