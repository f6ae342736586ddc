package ipmasq.netlink.xtables;

import static java.nio.charset.StandardCharsets.US_ASCII;

import ipmasq.netlink.Answer;
import ipmasq.netlink.SocketOption;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The nat table of iptables-legacy, as {@code getsockopt} hands it out: no child process, and no
 * lock. Asking for a table that does not exist yet makes the kernel create it.
 *
 * <p>The structures are those of {@code linux/netfilter_ipv4/ip_tables.h} and {@code
 * linux/netfilter_ipv6/ip6_tables.h}.
 */
public enum LegacyNat {
  IPV4(2, 0, 84, 88, 112),
  IPV6(10, 41, 136, 140, 168);

  private static final int IPT_SO_GET_INFO = 64;
  private static final int IPT_SO_GET_ENTRIES = 65;
  private static final int XT_TABLE_MAXNAMELEN = 32;
  private static final int SIZEOF_IPT_GETINFO = 84;
  private static final int SIZEOF_IPT_GET_ENTRIES = 40;
  private static final int NF_INET_NUMHOOKS = 5;

  private final int domain;
  private final int level;

  /** Of {@code struct ipt_ip}: addresses, interfaces, protocol. */
  final int sizeofIp;

  /** Of {@code target_offset} and {@code next_offset}, two bytes each. */
  final int offsetofOffsets;

  /** Of {@code struct ipt_entry}, which ends with the counters. */
  final int sizeofEntry;

  LegacyNat(int domain, int level, int sizeofIp, int offsetofOffsets, int sizeofEntry) {
    this.domain = domain;
    this.level = level;
    this.sizeofIp = sizeofIp;
    this.offsetofOffsets = offsetofOffsets;
    this.sizeofEntry = sizeofEntry;
  }

  /** The shape of the table, which changes with each rule and chain that is added or removed. */
  public Answer<TableShape> shape() {
    return SocketOption.get(
        domain, level, IPT_SO_GET_INFO, request(0), SIZEOF_IPT_GETINFO, LegacyNat::shape);
  }

  private static TableShape shape(ByteBuffer info) {
    int[] starts = new int[NF_INET_NUMHOOKS];
    int[] ends = new int[NF_INET_NUMHOOKS];
    info.position(XT_TABLE_MAXNAMELEN + 4); // the name and valid_hooks
    for (int hook = 0; hook < NF_INET_NUMHOOKS; hook++) {
      starts[hook] = info.getInt();
    }
    for (int hook = 0; hook < NF_INET_NUMHOOKS; hook++) {
      ends[hook] = info.getInt();
    }
    return TableShape.of(starts, ends, info.getInt(), info.getInt());
  }

  /**
   * A digest of the rules that a packet at nat postrouting can meet, in order. Equal digests mean
   * equal rules, whatever their counters show.
   *
   * @param shape as it is now; if it has changed, the kernel refuses
   */
  public Answer<String> postrouting(TableShape shape) {
    return SocketOption.get(
        domain,
        level,
        IPT_SO_GET_ENTRIES,
        request(shape.size()),
        SIZEOF_IPT_GET_ENTRIES + shape.size(),
        answer -> {
          ByteBuffer entries = answer.slice(SIZEOF_IPT_GET_ENTRIES, shape.size());
          return new EntriesDigest(this, entries.order(ByteOrder.nativeOrder())).of(shape);
        });
  }

  private static byte[] request(int size) {
    ByteBuffer request =
        ByteBuffer.allocate(XT_TABLE_MAXNAMELEN + 4).order(ByteOrder.nativeOrder());
    return request.put("nat".getBytes(US_ASCII)).putInt(XT_TABLE_MAXNAMELEN, size).array();
  }
}
