package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.Data;
import ipmasq.netlink.Events;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.Message;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.nftables.Statement.Verdict;
import java.util.Optional;

/**
 * What one step of the ruleset did to a packet that some rule marked with {@code meta nftrace set
 * 1}.
 *
 * @param packet the same for all steps of a packet on one way through the node; others may share it
 *     later
 * @param rule the handle of the rule; 0: no rule matched between the last one and the chain's end
 * @param verdict what came of it; empty if the kernel queued the packet or sent none
 * @param policy what a base chain does at its end, in a step of kind {@link Kind#POLICY}
 * @param headers present in the first step that a chain takes
 * @param nfproto 2 for IPv4, 10 for IPv6
 */
public record Trace(
    int packet,
    Kind kind,
    TableFamily family,
    String table,
    String chain,
    long rule,
    Optional<Verdict> verdict,
    Optional<Chain.Policy> policy,
    Optional<Headers> headers,
    int nfproto,
    int mark) {
  private static final int NFNLGRP_NFTRACE = 9;
  private static final int NFTA_TRACE_TABLE = 1;
  private static final int NFTA_TRACE_CHAIN = 2;
  private static final int NFTA_TRACE_RULE_HANDLE = 3;
  private static final int NFTA_TRACE_TYPE = 4;
  private static final int NFTA_TRACE_VERDICT = 5;
  private static final int NFTA_TRACE_ID = 6;
  private static final int NFTA_TRACE_NETWORK_HEADER = 8;
  private static final int NFTA_TRACE_TRANSPORT_HEADER = 9;
  private static final int NFTA_TRACE_IIF = 10;
  private static final int NFTA_TRACE_OIF = 12;
  private static final int NFTA_TRACE_MARK = 14;
  private static final int NFTA_TRACE_NFPROTO = 15;
  private static final int NFTA_TRACE_POLICY = 16;

  /** Where a step stands: {@code NFT_TRACETYPE_*}. */
  public enum Kind {
    UNSPEC,
    /** At the end of a base chain. */
    POLICY,
    /** At the end of another chain, or a rule returned. */
    RETURN,
    /** A rule matched. */
    RULE
  }

  /**
   * The packet as it was then.
   *
   * @param network how its IP header begins: at most 20 or 40 bytes
   * @param transport how the header after that begins; empty if there is none
   * @param in index of the interface it came by; 0: none
   * @param out index of the interface it leaves by; 0: none
   */
  public record Headers(Data network, Data transport, int in, int out) {}

  /**
   * The steps that packets take from now on, as long as it is open.
   *
   * @param room how many may wait to be read before the kernel drops some
   */
  public static Events<Trace> listen(int room) throws NetlinkUnavailable {
    int trace = MessageType.inHeader(MessageType.NFT_MSG_TRACE);
    return Events.open(
        NFNLGRP_NFTRACE,
        room,
        message -> message.type() == trace ? Optional.of(read(message)) : Optional.empty());
  }

  private static Trace read(Message message) throws MalformedMessage {
    Attributes attributes = message.attributes();
    return new Trace(
        attributes.u32(NFTA_TRACE_ID),
        Expressions.numbered(Kind.values(), attributes.u32(NFTA_TRACE_TYPE)),
        TableFamily.of(message.family()),
        attributes.string(NFTA_TRACE_TABLE, ""),
        attributes.string(NFTA_TRACE_CHAIN, ""),
        attributes.u64(NFTA_TRACE_RULE_HANDLE, 0),
        verdict(attributes),
        attributes.has(NFTA_TRACE_POLICY)
            ? Optional.of(
                Expressions.numbered(Chain.Policy.values(), attributes.u32(NFTA_TRACE_POLICY)))
            : Optional.empty(),
        attributes.has(NFTA_TRACE_NETWORK_HEADER)
            ? Optional.of(
                new Headers(
                    Data.of(attributes.bytes(NFTA_TRACE_NETWORK_HEADER)),
                    Data.of(attributes.bytesOrNone(NFTA_TRACE_TRANSPORT_HEADER)),
                    attributes.u32(NFTA_TRACE_IIF, 0),
                    attributes.u32(NFTA_TRACE_OIF, 0)))
            : Optional.empty(),
        attributes.u32(NFTA_TRACE_NFPROTO, 0),
        attributes.u32(NFTA_TRACE_MARK, 0));
  }

  private static Optional<Verdict> verdict(Attributes attributes) {
    try {
      return attributes.has(NFTA_TRACE_VERDICT)
          ? Optional.of(Verdict.read(attributes.nested(NFTA_TRACE_VERDICT)))
          : Optional.empty();
    } catch (MalformedMessage other) {
      return Optional.empty(); // queued or stolen
    }
  }
}
