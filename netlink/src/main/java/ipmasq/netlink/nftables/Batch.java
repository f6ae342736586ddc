package ipmasq.netlink.nftables;

import ipmasq.netlink.MessageWriter;
import ipmasq.netlink.NetlinkSocket;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * What one transaction changes, in order. Used by one thread, and for one commit.
 *
 * <p>Later steps see what earlier ones made. Adding an object that exists is no error; adding a
 * rule again duplicates it.
 */
public final class Batch {
  private static final int NLM_F_CREATE = 0x400;
  private static final int NLM_F_APPEND = 0x800;

  private final List<byte[]> messages = new ArrayList<>();
  private final MessageWriter message = new MessageWriter();
  private final List<String> steps = new ArrayList<>();
  private int sets;
  private boolean sealed;

  /** Nothing to change yet. */
  public Batch() {
    message.begin(MessageType.NFNL_MSG_BATCH_BEGIN, NetlinkSocket.NLM_F_REQUEST);
    message.netfilter(0, MessageType.NFNL_SUBSYS_NFTABLES);
    steps.add("commit");
  }

  /** Whether there is nothing to commit. */
  public boolean isEmpty() {
    return steps.size() == 1;
  }

  /** The size of its messages in bytes. */
  public int size() {
    return messages().stream().mapToInt(each -> each.length).sum();
  }

  /** Adds a table. If it exists, persistent and without an owner, the sender becomes its owner. */
  public Batch add(Table table) {
    begin(MessageType.NFT_MSG_NEWTABLE, NLM_F_CREATE, table.family(), "add ", table);
    table.write(message);
    return this;
  }

  /** Deletes a table and everything in it. */
  public Batch delete(Table table) {
    begin(MessageType.NFT_MSG_DELTABLE, 0, table.family(), "delete ", table);
    table.name(message);
    return this;
  }

  public Batch add(Chain chain) {
    begin(MessageType.NFT_MSG_NEWCHAIN, NLM_F_CREATE, chain.family(), "add ", chain);
    chain.write(message);
    return this;
  }

  /** Deletes a chain that no rule jumps to, with its rules. */
  public Batch delete(Chain chain) {
    flush(chain);
    begin(MessageType.NFT_MSG_DELCHAIN, 0, chain.family(), "delete ", chain);
    chain.name(message);
    return this;
  }

  /** Deletes the rules of a chain. */
  public Batch flush(Chain chain) {
    begin(MessageType.NFT_MSG_DELRULE, 0, chain.family(), "flush ", chain);
    Rule.chain(message, chain.table(), chain.name());
    return this;
  }

  public Batch add(NftSet set) {
    begin(MessageType.NFT_MSG_NEWSET, NLM_F_CREATE, set.family(), "add ", set);
    set.write(message, ++sets);
    return this;
  }

  /** Deletes a set that no rule uses. */
  public Batch delete(NftSet set) {
    begin(MessageType.NFT_MSG_DELSET, 0, set.family(), "delete ", set);
    set.name(message);
    return this;
  }

  /** Deletes the elements of a set. */
  public Batch flush(NftSet set) {
    begin(MessageType.NFT_MSG_DELSETELEM, 0, set.family(), "flush ", set);
    set.name(message); // the numbers of table and name are the same in both messages
    return this;
  }

  /** Adds ranges, or single keys where the set has no intervals. Ranges must not overlap. */
  public Batch add(NftSet set, Iterator<Element.Range> ranges) {
    return elements(MessageType.NFT_MSG_NEWSETELEM, NLM_F_CREATE, "add to ", set, ranges);
  }

  /** Deletes ranges, each as it was added. */
  public Batch delete(NftSet set, Iterator<Element.Range> ranges) {
    return elements(MessageType.NFT_MSG_DELSETELEM, 0, "delete from ", set, ranges);
  }

  private Batch elements(
      int type, int flags, String verb, NftSet set, Iterator<Element.Range> ranges) {
    while (ranges.hasNext()) {
      begin(type, flags, set.family(), verb, set);
      Element.write(message, set, ranges);
    }
    return this;
  }

  /** Adds a rule at the end of its chain. */
  public Batch add(Rule rule) {
    begin(MessageType.NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND, rule.family(), "add ", rule);
    rule.write(message);
    return this;
  }

  /** Deletes the rule with that handle. */
  public Batch delete(Rule rule) {
    begin(MessageType.NFT_MSG_DELRULE, 0, rule.family(), "delete ", rule);
    rule.name(message);
    return this;
  }

  private void begin(int type, int flags, TableFamily family, String verb, Object object) {
    if (sealed) {
      throw new IllegalStateException("committed already");
    }
    messages.add(message.message()); // the previous one, now known not to be the last
    message
        .begin(MessageType.inHeader(type), flags | NetlinkSocket.NLM_F_REQUEST)
        .netfilter(family.number(), 0);
    steps.add(verb + object);
  }

  /**
   * All messages. The last step asks for the confirmation, because only newer kernels confirm the
   * end of a batch.
   */
  List<byte[]> messages() {
    if (!sealed) {
      if (!isEmpty()) {
        message.flag(NetlinkSocket.NLM_F_ACK);
      }
      messages.add(message.message());
      message.begin(MessageType.NFNL_MSG_BATCH_END, NetlinkSocket.NLM_F_REQUEST);
      messages.add(message.netfilter(0, MessageType.NFNL_SUBSYS_NFTABLES).message());
      sealed = true;
    }
    return messages;
  }

  /** What a message of them was meant to do. */
  String step(int message) {
    return message < steps.size() ? steps.get(message) : "commit";
  }
}
