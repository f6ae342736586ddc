package ipmasq.netlink.ipset;

import ipmasq.netlink.Answer;
import ipmasq.netlink.Attributes;
import ipmasq.netlink.Errno;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.Message;
import ipmasq.netlink.MessageWriter;
import ipmasq.netlink.NetlinkFailure;
import ipmasq.netlink.NetlinkSocket;
import ipmasq.netlink.NetlinkUnavailable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The ipsets of one network namespace: that of the thread which opens this. Used by one thread at a
 * time. Needs CAP_NET_ADMIN.
 *
 * <p>A first question makes the kernel load its module for ipsets, so ask only for sets that a rule
 * uses: then the module is there.
 */
public final class Ipsets implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(2);
  private static final int NFNL_SUBSYS_IPSET = 6;
  private static final int IPSET_CMD_LIST = 7;
  private static final int IPSET_CMD_TEST = 11;
  private static final int IPSET_CMD_HEADER = 12;

  /** Every kernel understands this one; later ones add nothing that is needed. */
  private static final int IPSET_PROTOCOL_MIN = 6;

  private static final int IPSET_ATTR_PROTOCOL = 1;
  private static final int IPSET_ATTR_SETNAME = 2;
  private static final int IPSET_ATTR_TYPENAME = 3;
  private static final int IPSET_ATTR_FAMILY = 5;
  private static final Errno IPSET_ERR_EXIST = new Errno(4103);
  private static final int IPSET_ATTR_DATA = 7;
  private static final int IPSET_ATTR_ADT = 8;
  private static final int IPSET_ATTR_TIMEOUT = 6; // these three are in IPSET_ATTR_DATA
  private static final int IPSET_ATTR_BITMASK = 12;
  private static final int IPSET_ATTR_NETMASK = 20;

  private final NetlinkSocket socket;
  private final MessageWriter request = new MessageWriter();

  private Ipsets(NetlinkSocket socket) {
    this.socket = socket;
  }

  public static Ipsets open() throws NetlinkUnavailable {
    return new Ipsets(NetlinkSocket.open(NetlinkSocket.NETLINK_NETFILTER, LIMIT));
  }

  /**
   * A set without its elements.
   *
   * @param type {@code hash:ip}, {@code hash:ip,port}, {@code list:set}
   * @param family 2 for IPv4, 10 for IPv6, 0 for either
   */
  public record Ipset(String name, String type, int family) {}

  /** The set of that name; a refusal with {@link Errno#ENOENT} if there is none. */
  public Answer<Ipset> find(String name) {
    begin(IPSET_CMD_HEADER, NetlinkSocket.NLM_F_REQUEST).string(IPSET_ATTR_SETNAME, name);
    List<Ipset> found = new ArrayList<>(1);
    Optional<NetlinkFailure> failure =
        socket.ask(
            request,
            message -> {
              Attributes set = message.attributes();
              found.add(
                  new Ipset(
                      set.string(IPSET_ATTR_SETNAME),
                      set.string(IPSET_ATTR_TYPENAME),
                      set.u8(IPSET_ATTR_FAMILY)));
            });
    return Answer.of(failure, found::getFirst);
  }

  /**
   * Whether a set has an element that matches a key. The kernel looks it up as it does for a
   * packet: the longest prefix decides, and {@code nomatch} means no.
   *
   * <p>A key without a part that the set's type has, or of another family, is in no set for the
   * kernel, so ask with all parts of the type.
   */
  public Answer<Boolean> test(String name, IpsetKey key) {
    begin(IPSET_CMD_TEST, NetlinkSocket.NLM_F_REQUEST | NetlinkSocket.NLM_F_ACK)
        .string(IPSET_ATTR_SETNAME, name);
    int data = request.nest(IPSET_ATTR_DATA);
    key.write(request);
    request.end(data);
    Optional<NetlinkFailure> failure = socket.ask(request, _ -> {});
    if (failure.isEmpty()) {
      return new Answer.Given<>(true);
    }
    return failure.get() instanceof NetlinkFailure.Refused(_, var errno, _)
            && errno.is(IPSET_ERR_EXIST)
        ? new Answer.Given<>(false)
        : new Answer.Failed<>(failure.get());
  }

  /**
   * A set with its elements: all, or slightly more than {@code limit}. The kernel then keeps the
   * rest and lists no other set here, so close this.
   */
  public Answer<IpsetContent> content(String name, int limit) {
    // A list of a missing set is refused only where a confirmation is asked for.
    begin(IPSET_CMD_LIST, NetlinkSocket.NLM_F_REQUEST | NetlinkSocket.NLM_F_ACK)
        .string(IPSET_ATTR_SETNAME, name);
    Listing listing = new Listing();
    Optional<NetlinkFailure> failure =
        socket.list(request, listing::read, () -> listing.elements.size() > limit);
    return Answer.of(
        failure,
        () ->
            new IpsetContent(
                listing.expires,
                listing.masked,
                listing.elements,
                listing.elements.size() <= limit));
  }

  private MessageWriter begin(int command, int flags) {
    return request
        .begin(NFNL_SUBSYS_IPSET << 8 | command, flags)
        .netfilter(0, 0)
        .u8(IPSET_ATTR_PROTOCOL, IPSET_PROTOCOL_MIN);
  }

  /** The messages of a list: the first describes the set, and all may have elements. */
  private static final class Listing {
    private final List<IpsetElement> elements = new ArrayList<>();
    private int netmask;
    private boolean expires;
    private boolean masked;

    void read(Message message) throws MalformedMessage {
      Attributes set = message.attributes();
      if (set.has(IPSET_ATTR_TYPENAME)) {
        Attributes created = set.nested(IPSET_ATTR_DATA);
        netmask = created.has(IPSET_ATTR_NETMASK) ? created.u8(IPSET_ATTR_NETMASK) : 0;
        masked = created.has(IPSET_ATTR_BITMASK);
        expires = created.has(IPSET_ATTR_TIMEOUT);
      }
      for (Attributes data : set.list(IPSET_ATTR_ADT)) {
        elements.add(IpsetElement.read(data, netmask));
      }
    }
  }

  @Override
  public void close() {
    socket.close();
  }
}
