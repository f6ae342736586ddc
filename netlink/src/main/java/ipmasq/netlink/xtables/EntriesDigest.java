package ipmasq.netlink.xtables;

import static java.nio.charset.StandardCharsets.US_ASCII;

import ipmasq.netlink.MalformedMessage;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

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
final class EntriesDigest {
  /** Of {@code struct xt_entry_target}: size 2, name 29, revision 1; the verdict comes next. */
  private static final int SIZEOF_TARGET = 32;

  private static final int OFFSETOF_TARGET_NAME = 2;

  /** Of {@code struct xt_error_target}, aligned; a chain's name comes after the target. */
  private static final int SIZEOF_ERROR_TARGET = 64;

  private static final int SIZEOF_ERROR_NAME = 30;
  private static final ByteBuffer ERROR = ByteBuffer.wrap("ERROR\0".getBytes(US_ASCII));

  private final LegacyTable.Ip ip;
  private final ByteBuffer entries;
  private final List<Integer> chains = new ArrayList<>();

  /** FNV-1a of 64 bits: a rule that changes is to show, not to be kept from forging. */
  private long hash = 0xcbf29ce484222325L;

  EntriesDigest(LegacyTable.Ip ip, ByteBuffer entries) {
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
