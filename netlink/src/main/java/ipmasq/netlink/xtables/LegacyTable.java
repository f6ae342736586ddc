package ipmasq.netlink.xtables;

import static java.nio.charset.StandardCharsets.US_ASCII;

import ipmasq.netlink.Answer;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.SocketOption;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A table of iptables-legacy, as {@code getsockopt} hands it out: no child process, and no lock.
 * Asking for a table that does not exist yet makes the kernel create it.
 *
 * @param hooks of whose chains a digest tells, as bits
 */
public record LegacyTable(Ip ip, String name, int hooks) {
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
   * the protocol, and of {@code ipt_entry}, which ends with the counters; between them the offsets.
   */
  public enum Ip {
    IPV4(2, 0, 84, 88, 112),
    IPV6(10, 41, 136, 140, 168);

    private final int domain;
    private final int level;
    final int sizeofIp;
    final int offsetofTargetOffset;
    final int sizeofEntry;

    Ip(int domain, int level, int sizeofIp, int offsetofTargetOffset, int sizeofEntry) {
      this.domain = domain;
      this.level = level;
      this.sizeofIp = sizeofIp;
      this.offsetofTargetOffset = offsetofTargetOffset;
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

    boolean has(int hook) {
      return (numbers.getFirst() & 1 << hook) != 0;
    }

    int start(int hook) {
      return numbers.get(1 + hook);
    }

    int end(int hook) {
      return numbers.get(1 + NF_INET_NUMHOOKS + hook);
    }
  }

  /** The nat table; its digest is of the rules that a packet at postrouting can meet. */
  public static LegacyTable nat(Ip ip) {
    return new LegacyTable(ip, "nat", 1 << NF_INET_POST_ROUTING);
  }

  /** The raw table, with all its rules. */
  public static LegacyTable raw(Ip ip) {
    return new LegacyTable(ip, "raw", -1);
  }

  public Answer<Shape> shape() {
    return SocketOption.get(
        ip.domain,
        ip.level,
        IPT_SO_GET_INFO,
        request(0),
        SIZEOF_IPT_GETINFO,
        info ->
            new Shape(
                IntStream.range(XT_TABLE_MAXNAMELEN / 4, SIZEOF_IPT_GETINFO / 4)
                    .mapToObj(i -> info.getInt(i * 4))
                    .toList()));
  }

  /**
   * A digest of rules, in order. Equal digests mean equal rules, whatever their counters show.
   *
   * @param shape as it is now; if its size has changed, the kernel refuses
   */
  public Answer<Long> digest(Shape shape) {
    return SocketOption.get(
        ip.domain,
        ip.level,
        IPT_SO_GET_ENTRIES,
        request(shape.size()),
        SIZEOF_IPT_GET_ENTRIES + shape.size(),
        answer -> {
          ByteBuffer entries = answer.slice(SIZEOF_IPT_GET_ENTRIES, shape.size());
          return digest(shape, entries.order(ByteOrder.nativeOrder()));
        });
  }

  long digest(Shape shape, ByteBuffer entries) throws MalformedMessage {
    EntriesDigest digest = new EntriesDigest(ip, entries);
    for (int hook = 0; hook < NF_INET_NUMHOOKS; hook++) {
      if (shape.has(hook) && (hooks & 1 << hook) != 0) {
        digest.builtIn(shape.start(hook), shape.end(hook));
      }
    }
    return digest.finish();
  }

  private byte[] request(int size) {
    ByteBuffer request =
        ByteBuffer.allocate(XT_TABLE_MAXNAMELEN + 4).order(ByteOrder.nativeOrder());
    return request.put(name.getBytes(US_ASCII)).putInt(XT_TABLE_MAXNAMELEN, size).array();
  }
}
