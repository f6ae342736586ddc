package ipmasq.netlink;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A table of iptables-legacy, as {@code getsockopt} hands it out: no child process, and no lock.
 * Asking for a table that does not exist yet makes the kernel create it.
 */
public record LegacyTable(Ip ip, String name) {
  private static final int SOCK_DGRAM = 2; // iptables takes a raw one, which needs NET_RAW
  private static final int SOCK_CLOEXEC = 0x80000;
  private static final int IPT_SO_GET_INFO = 64;
  private static final int IPT_SO_GET_ENTRIES = 65;
  private static final int XT_TABLE_MAXNAMELEN = 32;
  private static final int SIZEOF_IPT_GETINFO = 84;
  private static final int SIZEOF_IPT_GET_ENTRIES = 40;
  private static final int NF_INET_NUMHOOKS = 5;
  private static final int NF_INET_POST_ROUTING = 4;

  /**
   * The structures of {@code linux/netfilter_ipv4/ip_tables.h} and {@code
   * linux/netfilter_ipv6/ip6_tables.h}: sizes of {@code ipt_ip}, with the addresses, interfaces and
   * the protocol, and of {@code ipt_entry}, which ends with the counters.
   */
  public enum Ip {
    IPV4(2, 0, 84, 112),
    IPV6(10, 41, 136, 168);

    private final int domain;
    private final int level;
    final int sizeofIp;
    final int offsetofTargetOffset;
    final int sizeofEntry;

    Ip(int domain, int level, int sizeofIp, int sizeofEntry) {
      this.domain = domain;
      this.level = level;
      this.sizeofIp = sizeofIp;
      this.offsetofTargetOffset = sizeofIp + 4;
      this.sizeofEntry = sizeofEntry;
    }
  }

  /**
   * What {@code struct ipt_getinfo} has after the name: {@code valid_hooks}, where the chain of
   * each hook begins and its policy is, the number of entries, and their size in bytes. It changes
   * with each rule and chain that is added or removed.
   */
  public record Shape(List<Integer> numbers) {
    public int size() {
      return numbers.getLast();
    }
  }

  public Answer<Shape> shape() {
    return get(
        IPT_SO_GET_INFO,
        0,
        SIZEOF_IPT_GETINFO,
        info ->
            new Shape(
                IntStream.range(XT_TABLE_MAXNAMELEN / 4, SIZEOF_IPT_GETINFO / 4)
                    .mapToObj(i -> info.getInt(i * 4))
                    .toList()));
  }

  /**
   * A digest of the rules that a packet at postrouting can meet, in order. Equal digests mean equal
   * rules, whatever their counters show.
   *
   * @param shape as it is now; if its size has changed, the kernel refuses
   */
  public Answer<Long> digest(Shape shape) {
    return entries(shape, entries -> digest(shape, entries));
  }

  <T> Answer<T> entries(Shape shape, AnswerReader<T> reader) {
    return get(
        IPT_SO_GET_ENTRIES,
        shape.size(),
        SIZEOF_IPT_GET_ENTRIES + shape.size(),
        answer -> {
          ByteBuffer entries = answer.slice(SIZEOF_IPT_GET_ENTRIES, shape.size());
          return reader.read(entries.order(ByteOrder.nativeOrder()));
        });
  }

  long digest(Shape shape, ByteBuffer entries) throws MalformedMessage {
    EntriesDigest digest = new EntriesDigest(ip, entries);
    if ((shape.numbers.getFirst() & 1 << NF_INET_POST_ROUTING) != 0) {
      int start = 1 + NF_INET_POST_ROUTING;
      digest.builtIn(shape.numbers.get(start), shape.numbers.get(start + NF_INET_NUMHOOKS));
    }
    return digest.finish();
  }

  /** Reads an answer, which is gone afterwards. */
  interface AnswerReader<T> {
    T read(ByteBuffer answer) throws MalformedMessage;
  }

  /**
   * Each question has a socket of its own, which takes a few microseconds and leaves nothing to
   * close. It begins with the table's name; the kernel overwrites it with the answer.
   */
  private <T> Answer<T> get(int option, int entries, int size, AnswerReader<T> reader) {
    long socket = Syscalls.call(Syscalls.SOCKET, ip.domain, SOCK_DGRAM | SOCK_CLOEXEC, 0, 0, 0, 0);
    if (socket < 0) {
      return new Answer.Failed<>(NetlinkFailure.Refused.of(socket));
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(size, 8);
      ByteBuffer bytes = memory.asByteBuffer().order(ByteOrder.nativeOrder());
      bytes.put(0, name.getBytes(US_ASCII)).putInt(XT_TABLE_MAXNAMELEN, entries);
      MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_INT, size);
      long at = memory.address();
      long result =
          Syscalls.call(Syscalls.GETSOCKOPT, socket, ip.level, option, at, length.address(), 0);
      return result < 0
          ? new Answer.Failed<>(NetlinkFailure.Refused.of(result))
          : new Answer.Given<>(
              reader.read(bytes.asReadOnlyBuffer().order(ByteOrder.nativeOrder())));
    } catch (MalformedMessage senseless) {
      return new Answer.Failed<>(new NetlinkFailure.Malformed(senseless));
    } finally {
      Syscalls.call(Syscalls.CLOSE, socket, 0, 0, 0, 0, 0);
    }
  }

  /**
   * Digests the rules of chains, and of those that they jump to.
   *
   * <pre>
   *   entry:  ipt_ip | nfcache | target_offset, next_offset | comefrom | counters | matches | target
   *   table:  entries of a built-in chain, its policy, …, head of a chain, its entries, …, the end
   * </pre>
   *
   * <p>Left out are the counters, what the kernel notes down for itself (nfcache, comefrom), and
   * where in the table a jump leads: that moves when anybody's rule comes or goes. The name of the
   * chain stands for it. Heads and the end are entries with the target {@code ERROR}.
   */
  private static final class EntriesDigest {
    /** Of {@code struct xt_entry_target}: size 2, name 29, revision 1; the verdict comes next. */
    private static final int SIZEOF_TARGET = 32;

    private static final int OFFSETOF_TARGET_NAME = 2;

    /** Of {@code struct xt_error_target}, aligned; a chain's name comes after the target. */
    private static final int SIZEOF_ERROR_TARGET = 64;

    private static final int SIZEOF_ERROR_NAME = 30;
    private static final ByteBuffer ERROR = ByteBuffer.wrap("ERROR\0".getBytes(US_ASCII));

    private final Ip ip;
    private final ByteBuffer entries;
    private final List<Integer> chains = new ArrayList<>();

    /** FNV-1a of 64 bits: a rule that changes is to show, not to be kept from forging. */
    private long hash = 0xcbf29ce484222325L;

    EntriesDigest(Ip ip, ByteBuffer entries) {
      this.ip = ip;
      this.entries = entries;
    }

    /** A built-in chain, from its first rule to its policy. */
    void builtIn(int start, int end) throws MalformedMessage {
      for (int at = start; at <= end; at += next(at)) {
        entry(at);
      }
    }

    /** The chains that were jumped to. */
    long finish() throws MalformedMessage {
      for (int i = 0; i < chains.size(); i++) {
        int at = chains.get(i);
        chainName(at);
        for (; !isError(at); at += next(at)) {
          entry(at);
        }
      }
      return hash;
    }

    private void entry(int at) throws MalformedMessage {
      int end = at + next(at);
      int target = at + target(at);
      update(at, at + ip.sizeofIp);
      update(at + ip.offsetofTargetOffset, at + ip.offsetofTargetOffset + 4);
      // A standard target has no name: its verdict is negative to end here, else where to go on.
      boolean standard = entries.get(target + OFFSETOF_TARGET_NAME) == 0;
      require(!standard || target + SIZEOF_TARGET + 4 <= end, at);
      int verdict = standard ? entries.getInt(target + SIZEOF_TARGET) : -1;
      update(at + ip.sizeofEntry, verdict < 0 ? end : target + SIZEOF_TARGET);
      if (verdict >= 0 && verdict != end) { // else the rule only counts
        chainName(verdict);
        if (!chains.contains(verdict)) {
          chains.add(verdict);
        }
      }
    }

    /** The name in the head before a chain's first rule. */
    private void chainName(int first) throws MalformedMessage {
      int head = first - ip.sizeofEntry - SIZEOF_ERROR_TARGET;
      if (head >= 0 && isError(head)) {
        int name = head + ip.sizeofEntry + SIZEOF_TARGET;
        update(name, name + SIZEOF_ERROR_NAME);
      }
    }

    private boolean isError(int at) throws MalformedMessage {
      return entries.slice(at + target(at) + OFFSETOF_TARGET_NAME, ERROR.limit()).equals(ERROR);
    }

    private int target(int at) throws MalformedMessage {
      next(at);
      return Short.toUnsignedInt(entries.getShort(at + ip.offsetofTargetOffset));
    }

    /** The length of an entry, which is known to lie in the table, with its target in it. */
    private int next(int at) throws MalformedMessage {
      require(at >= 0 && at <= entries.limit() - ip.sizeofEntry - SIZEOF_TARGET, at);
      int target = Short.toUnsignedInt(entries.getShort(at + ip.offsetofTargetOffset));
      int next = Short.toUnsignedInt(entries.getShort(at + ip.offsetofTargetOffset + 2));
      require(target >= ip.sizeofEntry && target + SIZEOF_TARGET <= next, at);
      require(next <= entries.limit() - at, at);
      return next;
    }

    private static void require(boolean sensible, int at) throws MalformedMessage {
      if (!sensible) {
        throw new MalformedMessage("the rule at byte " + at + " of a table");
      }
    }

    private void update(int from, int to) {
      for (int i = from; i < to; i++) {
        hash = (hash ^ Byte.toUnsignedLong(entries.get(i))) * 0x100000001b3L;
      }
    }
  }
}
