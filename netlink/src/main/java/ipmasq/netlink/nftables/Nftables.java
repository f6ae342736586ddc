package ipmasq.netlink.nftables;

import ipmasq.netlink.Answer;
import ipmasq.netlink.Errno;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.Message;
import ipmasq.netlink.MessageWriter;
import ipmasq.netlink.NetlinkFailure;
import ipmasq.netlink.NetlinkFailure.Refused;
import ipmasq.netlink.NetlinkSocket;
import ipmasq.netlink.NetlinkUnavailable;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The nf_tables of one network namespace: that of the thread which opens this. Used by one thread
 * at a time.
 *
 * <p>This object owns the tables it adds with {@link Table.Flag#OWNER}; closing it gives them up.
 */
public final class Nftables implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final int NFTA_GEN_ID = 1;

  private final NetlinkSocket socket;
  private final MessageWriter request = new MessageWriter();

  private Nftables(NetlinkSocket socket) {
    this.socket = socket;
  }

  /** Over a netfilter socket, which this closes. */
  public static Nftables over(NetlinkSocket socket) {
    return new Nftables(socket);
  }

  public static Nftables open() throws NetlinkUnavailable {
    return new Nftables(NetlinkSocket.open(NetlinkSocket.NETLINK_NETFILTER, LIMIT));
  }

  /** What {@link Table#owner} says of tables that belong to this object. */
  public int port() {
    return socket.port();
  }

  /**
   * The number of the namespace's ruleset, which every commit by anybody changes: equal numbers
   * mean that nothing in nf_tables changed. Cheap.
   */
  public Answer<Integer> generation() {
    begin(MessageType.NFT_MSG_GETGEN, 0);
    int[] id = {0};
    Optional<NetlinkFailure> failure =
        socket.ask(request, message -> id[0] = message.attributes().u32(NFTA_GEN_ID));
    return Answer.of(failure, () -> id[0]);
  }

  /** All tables. */
  public Answer<List<Table>> tables() {
    begin(MessageType.NFT_MSG_GETTABLE, 0);
    return list(Table::read);
  }

  /** The table of that family and name, if there is one. */
  public Answer<Optional<Table>> find(Table table) {
    begin(MessageType.NFT_MSG_GETTABLE, table.family().number());
    table.name(request);
    return one(Table::read);
  }

  /** The chains of all tables of one family. */
  public Answer<List<Chain>> chains(TableFamily family) {
    begin(MessageType.NFT_MSG_GETCHAIN, family.number());
    return list(Chain::read);
  }

  /** The chain of that table and name, if there is one. */
  public Answer<Optional<Chain>> find(Chain chain) {
    begin(MessageType.NFT_MSG_GETCHAIN, chain.family().number());
    chain.name(request);
    return one(Chain::read);
  }

  /** The rules of one chain, in order. The kernel does not look at others. */
  public Answer<List<Rule>> rules(Chain chain) {
    beginRules(chain);
    return list(Rule::read);
  }

  /**
   * A digest of what the rules of one chain say, in order. Equal digests mean equal rules, whatever
   * their counters show. The kernel's numbers for rules do not suffice: they restart in a table
   * that is recreated, and stay the same when a rule is replaced.
   */
  public Answer<String> digest(Chain chain) {
    beginRules(chain);
    MessageDigest digest = sha256();
    Optional<NetlinkFailure> failure = walk(message -> Rule.digest(message, digest));
    return unlessAbsent(failure, () -> HexFormat.of().formatHex(digest.digest()));
  }

  /** How many rules one chain has. */
  public Answer<Integer> count(Chain chain) {
    beginRules(chain);
    int[] count = {0};
    Optional<NetlinkFailure> failure = walk(_ -> count[0]++);
    return unlessAbsent(failure, () -> count[0]);
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException impossible) {
      throw new AssertionError(impossible); // every Java has it
    }
  }

  /** How many rules a chain has and jumps lead to it, together; empty: there is no such chain. */
  public Answer<Optional<Integer>> uses(Chain chain) {
    begin(MessageType.NFT_MSG_GETCHAIN, chain.family().number());
    chain.name(request);
    return one(Chain::uses);
  }

  /** The sets of one table; none where there is no such table. */
  public Answer<List<NftSet>> sets(Table table) {
    begin(MessageType.NFT_MSG_GETSET, table.family().number());
    table.name(request); // the attribute has the same number in both messages
    return list(NftSet::read);
  }

  /** The set of that table and name, if there is one. */
  public Answer<Optional<NftSet>> find(NftSet set) {
    begin(MessageType.NFT_MSG_GETSET, set.family().number());
    set.name(request);
    return one(NftSet::read);
  }

  /** Hands on the elements of a set. Empty: those were all. */
  public Optional<NetlinkFailure> elements(NftSet set, Consumer<Element> each) {
    begin(MessageType.NFT_MSG_GETSETELEM, set.family().number());
    set.name(request);
    return walk(message -> Element.read(message, each));
  }

  /**
   * The element of a set or map that a packet with this key meets, if there is one: the key itself,
   * the interval that contains it, or the element for all other keys. The parts of a concatenated
   * key are padded to four bytes each.
   */
  public Answer<Optional<Element>> element(NftSet set, byte[] key) {
    Answer<Optional<Element>> own = find(set, key);
    if (!(own instanceof Answer.Given<Optional<Element>>(var found)) || found.isPresent()) {
      return own;
    }
    Answer<Optional<Element>> other = find(set, new byte[0]);
    boolean unknown = // before kernel 5.13
        other instanceof Answer.Failed<Optional<Element>>(Refused(_, var errno, _))
            && errno.is(Errno.EINVAL);
    return unknown ? own : other;
  }

  private Answer<Optional<Element>> find(NftSet set, byte[] key) {
    begin(MessageType.NFT_MSG_GETSETELEM, set.family().number());
    set.name(request);
    Element.writeKey(request, key);
    List<Element> found = new ArrayList<>(1);
    Optional<NetlinkFailure> failure =
        socket.ask(request, message -> Element.read(message, found::add));
    return unlessAbsent(failure, () -> found.stream().findFirst());
  }

  /**
   * A list up to a limit.
   *
   * @param whole whether that is all; otherwise close this object, which can list nothing more
   */
  public record Head<T>(List<T> list, boolean whole) {
    public Head {
      list = List.copyOf(list);
    }
  }

  /** The elements of a set, in no order: all, or slightly more than {@code limit}. */
  public Answer<Head<Element>> elements(NftSet set, int limit) {
    begin(MessageType.NFT_MSG_GETSETELEM, set.family().number());
    set.name(request);
    return head(limit, Element::read);
  }

  /** The rules of one chain, in order: all, or slightly more than {@code limit}. */
  public Answer<Head<Rule>> rules(Chain chain, int limit) {
    beginRules(chain);
    return head(limit, (message, found) -> found.accept(Rule.read(message)));
  }

  /** The base chains of all tables. */
  public Answer<List<Chain>> baseChains() {
    begin(MessageType.NFT_MSG_GETCHAIN, 0);
    List<Chain> found = new ArrayList<>();
    Optional<NetlinkFailure> failure = walk(message -> found.add(Chain.read(message)));
    found.removeIf(chain -> chain.base().isEmpty());
    return Answer.of(failure, () -> List.copyOf(found));
  }

  /** Makes objects of a message. */
  private interface ManyReader<T> {
    void read(Message message, Consumer<T> found) throws MalformedMessage;
  }

  private <T> Answer<Head<T>> head(int limit, ManyReader<T> reader) {
    List<T> found = new ArrayList<>();
    Optional<NetlinkFailure> failure =
        walk(message -> reader.read(message, found::add), () -> found.size() > limit);
    return unlessAbsent(failure, () -> new Head<>(found, found.size() <= limit));
  }

  /** Applies a batch, all of it or nothing. */
  public Commit commit(Batch batch) {
    return switch (socket.send(batch.messages())) {
      case Answer.Given<List<Refused>>(var said) -> outcome(batch, said);
      case Answer.Failed<List<Refused>>(Refused refused) ->
          new Commit.Rejected(List.of(new Commit.Complaint("send", refused)));
      case Answer.Failed<List<Refused>>(var failure) -> new Commit.Unclear(failure);
    };
  }

  private static Commit outcome(Batch batch, List<Refused> said) {
    List<Commit.Complaint> complaints =
        said.stream()
            .filter(each -> !each.errno().is(Errno.NONE))
            .map(each -> new Commit.Complaint(batch.step(each.message()), each))
            .toList();
    if (!complaints.isEmpty()) {
      return new Commit.Rejected(complaints);
    }
    return batch.isEmpty() || !said.isEmpty()
        ? new Commit.Committed()
        : new Commit.Unclear(new NetlinkFailure.TimedOut());
  }

  private void beginRules(Chain chain) {
    begin(MessageType.NFT_MSG_GETRULE, chain.family().number());
    Rule.chain(request, chain.table(), chain.name());
  }

  private void begin(int type, int family) {
    request.begin(MessageType.inHeader(type), NetlinkSocket.NLM_F_REQUEST).netfilter(family, 0);
  }

  /** Makes an object of a message. */
  private interface Reader<T> {
    T read(Message message) throws MalformedMessage;
  }

  private <T> Answer<List<T>> list(Reader<T> reader) {
    List<T> found = new ArrayList<>();
    Optional<NetlinkFailure> failure = walk(message -> found.add(reader.read(message)));
    return unlessAbsent(failure, () -> List.copyOf(found));
  }

  /**
   * Lists, and notices commits in between. The kernel never flags them for lists of elements, but
   * each message carries the lower half of the generation.
   */
  private Optional<NetlinkFailure> walk(NetlinkSocket.Handler handler) {
    return walk(handler, () -> false);
  }

  private Optional<NetlinkFailure> walk(NetlinkSocket.Handler handler, BooleanSupplier enough) {
    int[] generations = {-1, -1}; // of the first message and of the last
    Optional<NetlinkFailure> failure =
        socket.list(
            request,
            message -> {
              generations[1] = message.resource();
              generations[0] = generations[0] < 0 ? generations[1] : generations[0];
              handler.message(message);
            },
            enough);
    return failure.isEmpty() && generations[0] != generations[1]
        ? Optional.of(new NetlinkFailure.Interrupted())
        : failure;
  }

  private <T> Answer<Optional<T>> one(Reader<T> reader) {
    List<T> found = new ArrayList<>(1);
    Optional<NetlinkFailure> failure =
        socket.ask(request, message -> found.add(reader.read(message)));
    return unlessAbsent(failure, () -> found.stream().findFirst());
  }

  private static <T> Answer<T> unlessAbsent(Optional<NetlinkFailure> failure, Supplier<T> value) {
    return Answer.of(failure.filter(why -> !why.isAbsent()), value);
  }

  @Override
  public void close() {
    socket.close();
  }
}
