package ipmasq.netlink.xtables;

import static java.nio.charset.StandardCharsets.US_ASCII;

import ipmasq.netlink.MalformedMessage;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;

/**
 * Digests the rules that packets at nat postrouting can meet.
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
  private static final int SIZEOF_ERROR_NAME = 30;

  /** Of {@code struct xt_error_target}, aligned. */
  private static final int SIZEOF_ERROR_TARGET = 64;

  private static final byte[] ERROR = "ERROR\0".getBytes(US_ASCII);

  private final LegacyNat format;
  private final ByteBuffer entries;
  private final MessageDigest digest;
  private final Deque<Integer> todo = new ArrayDeque<>();
  private final Set<Integer> seen = new HashSet<>();

  EntriesDigest(LegacyNat format, ByteBuffer entries) {
    this.format = format;
    this.entries = entries;
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException impossible) {
      throw new AssertionError(impossible); // every Java has it
    }
  }

  String of(TableShape shape) throws MalformedMessage {
    for (int at = shape.postroutingStart(); at <= shape.postroutingEnd(); at += next(at)) {
      entry(at);
    }
    while (!todo.isEmpty()) {
      int at = todo.poll();
      chainName(at);
      for (; !isError(at); at += next(at)) {
        entry(at);
      }
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  private void entry(int at) throws MalformedMessage {
    int next = next(at);
    int target = at + target(at);
    update(at, format.sizeofIp);
    update(at + format.offsetofOffsets, 4);
    int verdict = entries.get(target + OFFSETOF_TARGET_NAME) == 0 ? verdict(at, target) : -1;
    if (verdict < 0) {
      update(at + format.sizeofEntry, next - format.sizeofEntry);
      return;
    }
    update(at + format.sizeofEntry, target + SIZEOF_TARGET - at - format.sizeofEntry);
    if (verdict != at + next) { // else the rule only counts
      chainName(verdict);
      if (seen.add(verdict)) {
        todo.add(verdict);
      }
    }
  }

  /** Of the standard target: negative to end here, else where to go on. */
  private int verdict(int at, int target) throws MalformedMessage {
    require(target + SIZEOF_TARGET + 4 <= at + next(at), at);
    return entries.getInt(target + SIZEOF_TARGET);
  }

  /** The name in the head before a chain's first rule. */
  private void chainName(int first) throws MalformedMessage {
    int head = first - format.sizeofEntry - SIZEOF_ERROR_TARGET;
    if (head >= 0 && isError(head)) {
      update(head + format.sizeofEntry + SIZEOF_TARGET, SIZEOF_ERROR_NAME);
    }
  }

  private boolean isError(int at) throws MalformedMessage {
    int name = at + target(at) + OFFSETOF_TARGET_NAME;
    return entries.slice(name, ERROR.length).equals(ByteBuffer.wrap(ERROR));
  }

  private int target(int at) throws MalformedMessage {
    next(at);
    return Short.toUnsignedInt(entries.getShort(at + format.offsetofOffsets));
  }

  /** The length of an entry, which is known to lie in the table, with its target in it. */
  private int next(int at) throws MalformedMessage {
    require(at >= 0 && at <= entries.limit() - format.sizeofEntry - SIZEOF_TARGET, at);
    int target = Short.toUnsignedInt(entries.getShort(at + format.offsetofOffsets));
    int next = Short.toUnsignedInt(entries.getShort(at + format.offsetofOffsets + 2));
    require(target >= format.sizeofEntry && target + SIZEOF_TARGET <= next, at);
    require(next <= entries.limit() - at, at);
    return next;
  }

  private static void require(boolean sensible, int at) throws MalformedMessage {
    if (!sensible) {
      throw new MalformedMessage("the rule at byte " + at + " of a table");
    }
  }

  private void update(int from, int length) {
    digest.update(entries.slice(from, length));
  }
}
