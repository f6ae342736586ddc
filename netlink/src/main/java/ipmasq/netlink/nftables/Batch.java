package ipmasq.netlink.nftables;

import ipmasq.netlink.MessageWriter;
import ipmasq.netlink.NetlinkSocket;
import ipmasq.netlink.Packet;
import java.util.ArrayList;
import java.util.List;

/**
 * What one transaction changes, in order. Used by one thread, and for one commit.
 *
 * <p>Later steps see what earlier ones made. Adding what is there already is no error, except for
 * rules, which are there twice then.
 */
public final class Batch {
  private static final int REPLACE = 0x100;
  private static final int CREATE = 0x400;
  private static final int APPEND = 0x800;
  private static final int GENERATION = 1;

  private final Packet packet = new Packet();
  private final MessageWriter message = new MessageWriter();
  private final List<String> steps = new ArrayList<>();
  private int sets;
  private boolean sealed;

  /** Changes whatever is there. */
  public Batch() {
    message.begin(MessageType.BATCH_BEGIN, NetlinkSocket.REQUEST);
    message.netfilter(0, MessageType.SUBSYSTEM);
    steps.add("commit");
  }

  /** Changes nothing if anybody commits after this generation. */
  public static Batch after(Generation generation) {
    Batch batch = new Batch();
    batch.message.u32(GENERATION, generation.id());
    return batch;
  }

  /** Whether there is nothing to commit. */
  public boolean isEmpty() {
    return steps.size() == 1;
  }

  /**
   * Adds a table. If a persistent one without an owner is there, this makes its sender the owner.
   */
  public Batch add(Table table) {
    begin(MessageType.NEW_TABLE, CREATE, table.family(), "add ", table);
    table.write(message);
    return this;
  }

  /** Deletes a table with all that is in it. */
  public Batch delete(Table table) {
    begin(MessageType.DELETE_TABLE, 0, table.family(), "delete ", table);
    table.name(message);
    return this;
  }

  public Batch add(Chain chain) {
    begin(MessageType.NEW_CHAIN, CREATE, chain.family(), "add ", chain);
    chain.write(message);
    return this;
  }

  /** Deletes a chain that no rule jumps to, with its rules. */
  public Batch delete(Chain chain) {
    flush(chain);
    begin(MessageType.DELETE_CHAIN, 0, chain.family(), "delete ", chain);
    chain.name(message);
    return this;
  }

  /** Deletes the rules of a chain. */
  public Batch flush(Chain chain) {
    begin(MessageType.DELETE_RULE, 0, chain.family(), "flush ", chain);
    Rule.chain(message, chain.table(), chain.name());
    return this;
  }

  public Batch add(NftSet set) {
    begin(MessageType.NEW_SET, CREATE, set.family(), "add ", set);
    set.write(message, ++sets);
    return this;
  }

  /** Deletes a set that no rule uses. */
  public Batch delete(NftSet set) {
    begin(MessageType.DELETE_SET, 0, set.family(), "delete ", set);
    set.name(message);
    return this;
  }

  /** Deletes the elements of a set. */
  public Batch flush(NftSet set) {
    begin(MessageType.DELETE_ELEMENT, 0, set.family(), "flush ", set);
    set.name(message); // the numbers of table and name are the same in both messages
    return this;
  }

  /** Adds ranges, or single keys where the set has no intervals. Ranges must not overlap. */
  public Batch add(NftSet set, Ranges ranges) {
    return elements(MessageType.NEW_ELEMENT, CREATE, "add to ", set, ranges);
  }

  /** Deletes ranges, each as it was added. */
  public Batch delete(NftSet set, Ranges ranges) {
    return elements(MessageType.DELETE_ELEMENT, 0, "delete from ", set, ranges);
  }

  private Batch elements(int type, int flags, String verb, NftSet set, Ranges ranges) {
    ElementWriter elements = new ElementWriter(set, ranges);
    while (elements.more()) {
      begin(type, flags, set.family(), verb, set);
      elements.write(message);
    }
    return this;
  }

  /** Adds a rule at the end of its chain. */
  public Batch add(Rule rule) {
    return add(rule, CREATE | APPEND, 0);
  }

  /** Adds a rule at the beginning of its chain. */
  public Batch insert(Rule rule) {
    return add(rule, CREATE, 0);
  }

  /** Adds a rule right after another one that the kernel has. */
  public Batch addAfter(Rule rule, long handle) {
    return add(rule, CREATE | APPEND, handle);
  }

  /** Adds a rule right before another one that the kernel has. */
  public Batch insertBefore(Rule rule, long handle) {
    return add(rule, CREATE, handle);
  }

  private Batch add(Rule rule, int flags, long position) {
    begin(MessageType.NEW_RULE, flags, rule.family(), "add rule ", rule);
    rule.write(message, position);
    return this;
  }

  /** Puts a rule in the place of the one that has its handle. */
  public Batch replace(Rule rule) {
    begin(MessageType.NEW_RULE, REPLACE, rule.family(), "replace rule ", rule);
    rule.name(message);
    rule.body(message);
    return this;
  }

  /** Deletes the rule with that handle. */
  public Batch delete(Rule rule) {
    begin(MessageType.DELETE_RULE, 0, rule.family(), "delete rule ", rule);
    rule.name(message);
    return this;
  }

  private void begin(int type, int flags, TableFamily family, String verb, Object object) {
    if (sealed) {
      throw new IllegalStateException("committed already");
    }
    packet.add(message); // the one before: only now it is known that it is not the last
    message.begin(type, flags | NetlinkSocket.REQUEST).netfilter(family.number(), 0);
    steps.add(verb + object);
  }

  /**
   * The whole of it, with a confirmation asked for with its last step. The end of a batch is
   * confirmed by newer kernels only.
   */
  Packet packet() {
    if (!sealed) {
      if (!isEmpty()) {
        message.flag(NetlinkSocket.ACK);
      }
      packet.add(message);
      message.begin(MessageType.BATCH_END, NetlinkSocket.REQUEST);
      packet.add(message.netfilter(0, MessageType.SUBSYSTEM));
      sealed = true;
    }
    return packet;
  }

  /** What a message of the packet was to do. */
  String step(int message) {
    return message < steps.size() ? steps.get(message) : "commit";
  }
}
