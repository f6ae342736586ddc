package ipmasq.netlink.nftables;

import ipmasq.netlink.Answer;
import ipmasq.netlink.Errno;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageReader;
import ipmasq.netlink.MessageWriter;
import ipmasq.netlink.NetlinkFailure;
import ipmasq.netlink.NetlinkSocket;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.Refusal;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;

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
  private final NetlinkSocket.Handler readGeneration = this::generation;
  private int generation;

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

  /** The current generation of the ruleset. Cheap. */
  public Answer<Generation> generation() {
    begin(MessageType.NFT_MSG_GETGEN, 0);
    Optional<NetlinkFailure> failure = socket.ask(request, readGeneration);
    return failure.isPresent()
        ? new Answer.Failed<>(failure.get())
        : new Answer.Given<>(new Generation(generation));
  }

  private void generation(MessageReader message) throws MalformedMessage {
    var attributes = message.attributes();
    while (attributes.next()) {
      if (attributes.type() == NFTA_GEN_ID) {
        generation = attributes.u32();
        return;
      }
    }
    throw new MalformedMessage("no generation");
  }

  /** All tables. */
  public Answer<List<Table>> tables() {
    begin(MessageType.NFT_MSG_GETTABLE, 0);
    return list(Table::read);
  }

  /**
   * A table and how much is in it.
   *
   * @param use how many chains, sets and other objects it has
   */
  public record TableUse(Table table, int use) {}

  /** All tables, and how much is in each. */
  public Answer<List<TableUse>> tableUses() {
    begin(MessageType.NFT_MSG_GETTABLE, 0);
    return list(message -> new TableUse(Table.read(message), Table.use(message)));
  }

  /** The table of that family and name, if there is one. */
  public Answer<Optional<Table>> find(Table table) {
    begin(MessageType.NFT_MSG_GETTABLE, table.family().number());
    table.name(request);
    return one(Table::read);
  }

  /** All chains of all tables; the kernel does not choose among them. */
  public Answer<List<Chain>> chains() {
    begin(MessageType.NFT_MSG_GETCHAIN, 0);
    return list(Chain::read);
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
    return rules(chain.family(), chain.table(), chain.name());
  }

  /**
   * A digest of what the rules of one chain say, in order. Equal digests mean equal rules, whatever
   * their counters show. The kernel's numbers for rules do not suffice: they restart in a table
   * that is recreated, and stay the same when a rule is replaced.
   */
  public Answer<String> digest(Chain chain) {
    begin(MessageType.NFT_MSG_GETRULE, chain.family().number());
    Rule.chain(request, chain.table(), chain.name());
    MessageDigest digest = sha256();
    Optional<NetlinkFailure> failure = walk(message -> Rule.digest(message, digest));
    return failure.isPresent() && !isAbsent(failure.get())
        ? new Answer.Failed<>(failure.get())
        : new Answer.Given<>(HexFormat.of().formatHex(digest.digest()));
  }

  /** How many rules one chain has. */
  public Answer<Integer> count(Chain chain) {
    begin(MessageType.NFT_MSG_GETRULE, chain.family().number());
    Rule.chain(request, chain.table(), chain.name());
    int[] count = {0};
    Optional<NetlinkFailure> failure = walk(_ -> count[0]++);
    return failure.isPresent() && !isAbsent(failure.get())
        ? new Answer.Failed<>(failure.get())
        : new Answer.Given<>(count[0]);
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

  /** The rules of one table, chain by chain. */
  public Answer<List<Rule>> rules(Table table) {
    return rules(table.family(), table.name(), "");
  }

  private Answer<List<Rule>> rules(TableFamily family, String table, String chain) {
    begin(MessageType.NFT_MSG_GETRULE, family.number());
    Rule.chain(request, table, chain);
    return list(Rule::read);
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

  /** The elements of a set. Empty: the visitor saw all of them. */
  public Optional<NetlinkFailure> elements(NftSet set, ElementVisitor visitor) {
    begin(MessageType.NFT_MSG_GETSETELEM, set.family().number());
    set.name(request);
    return walk(new ElementReader(set, visitor)::read);
  }

  /** The ranges of a set of intervals. Empty: the visitor saw all of them, the last first. */
  public Optional<NetlinkFailure> ranges(NftSet set, RangeVisitor visitor) {
    return elements(set, new RangeAssembler(set, visitor));
  }

  /**
   * The element of a set or map that a packet with this key meets, if there is one: the key itself,
   * the interval that contains it, or the element for all other keys. The parts of a concatenated
   * key are padded to four bytes each.
   */
  public Answer<Optional<Element>> element(NftSet set, byte[] key) {
    begin(MessageType.NFT_MSG_GETSETELEM, set.family().number());
    set.name(request);
    Element.writeKey(request, key);
    Answer<Optional<Element>> own = element();
    if (!(own instanceof Answer.Given<Optional<Element>>(var found)) || found.isPresent()) {
      return own;
    }
    begin(MessageType.NFT_MSG_GETSETELEM, set.family().number());
    set.name(request);
    Element.writeCatchAll(request);
    Answer<Optional<Element>> other = element();
    boolean unknown = // before kernel 5.13
        other instanceof Answer.Failed<Optional<Element>>(NetlinkFailure.Refused(var refusal))
            && refusal.errno().is(Errno.EINVAL);
    return unknown ? own : other;
  }

  private Answer<Optional<Element>> element() {
    List<Element> found = new ArrayList<>(1);
    Optional<NetlinkFailure> failure =
        socket.ask(request, message -> Element.read(message, found::add));
    if (failure.isPresent() && !isAbsent(failure.get())) {
      return new Answer.Failed<>(failure.get());
    }
    return new Answer.Given<>(found.isEmpty() ? Optional.empty() : Optional.of(found.getFirst()));
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
    return rules(chain, limit, _ -> true);
  }

  /** The same, but only the wanted rules, which alone count towards the limit. */
  public Answer<Head<Rule>> rules(Chain chain, int limit, Predicate<Rule> wanted) {
    begin(MessageType.NFT_MSG_GETRULE, chain.family().number());
    Rule.chain(request, chain.table(), chain.name());
    return head(
        limit,
        (message, found) -> {
          Rule rule = Rule.read(message);
          if (wanted.test(rule)) {
            found.accept(rule);
          }
        });
  }

  /** The base chains of all tables; other chains are skipped unread. */
  public Answer<List<Chain>> baseChains() {
    begin(MessageType.NFT_MSG_GETCHAIN, 0);
    List<Chain> found = new ArrayList<>();
    Optional<NetlinkFailure> failure =
        walk(
            message -> {
              if (Chain.isBase(message)) {
                found.add(Chain.read(message));
              }
            });
    return failure.isPresent()
        ? new Answer.Failed<>(failure.get())
        : new Answer.Given<>(List.copyOf(found));
  }

  /** Makes objects of a message. */
  private interface ManyReader<T> {
    void read(MessageReader message, Consumer<T> found) throws MalformedMessage;
  }

  private <T> Answer<Head<T>> head(int limit, ManyReader<T> reader) {
    List<T> found = new ArrayList<>();
    Optional<NetlinkFailure> failure =
        walk(message -> reader.read(message, found::add), () -> found.size() > limit);
    if (failure.isPresent() && !isAbsent(failure.get())) {
      return new Answer.Failed<>(failure.get());
    }
    return new Answer.Given<>(new Head<>(found, found.size() <= limit));
  }

  /** Applies a batch, all of it or nothing. */
  public Commit commit(Batch batch) {
    return switch (socket.send(batch.packet())) {
      case Answer.Given<List<Refusal>>(var said) -> outcome(batch, said);
      case Answer.Failed<List<Refusal>>(NetlinkFailure.Refused(var refusal)) ->
          new Commit.Rejected(List.of(new Commit.Complaint("send", refusal)));
      case Answer.Failed<List<Refusal>>(var failure) -> new Commit.Unclear(failure);
    };
  }

  private static Commit outcome(Batch batch, List<Refusal> said) {
    List<Commit.Complaint> complaints = new ArrayList<>();
    boolean confirmed = batch.isEmpty();
    for (Refusal each : said) {
      if (each.errno().is(Errno.NONE)) {
        confirmed = true;
      } else if (each.errno().is(Errno.ERESTART) || each.errno().is(Errno.EAGAIN)) {
        return new Commit.Raced(each.errno());
      } else {
        complaints.add(new Commit.Complaint(batch.step(each.message()), each));
      }
    }
    if (!complaints.isEmpty()) {
      return new Commit.Rejected(complaints);
    }
    return confirmed ? new Commit.Committed() : new Commit.Unclear(new NetlinkFailure.TimedOut());
  }

  private void begin(int type, int family) {
    request.begin(MessageType.inHeader(type), NetlinkSocket.NLM_F_REQUEST).netfilter(family, 0);
  }

  /** Makes an object of a message. */
  private interface Reader<T> {
    T read(MessageReader message) throws MalformedMessage;
  }

  private <T> Answer<List<T>> list(Reader<T> reader) {
    List<T> found = new ArrayList<>();
    Optional<NetlinkFailure> failure = walk(message -> found.add(reader.read(message)));
    return failure.isPresent() && !isAbsent(failure.get())
        ? new Answer.Failed<>(failure.get())
        : new Answer.Given<>(List.copyOf(found));
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
    if (failure.isEmpty()) {
      return new Answer.Given<>(found.isEmpty() ? Optional.empty() : Optional.of(found.getFirst()));
    }
    return isAbsent(failure.get())
        ? new Answer.Given<>(Optional.empty())
        : new Answer.Failed<>(failure.get());
  }

  private static boolean isAbsent(NetlinkFailure failure) {
    return failure instanceof NetlinkFailure.Refused(var refusal)
        && refusal.errno().is(Errno.ENOENT);
  }

  @Override
  public void close() {
    socket.close();
  }
}
