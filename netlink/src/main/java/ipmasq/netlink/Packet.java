package ipmasq.netlink;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Messages that go to the kernel together, in one system call. Used by one thread.
 *
 * <p>Kept in chunks: a batch of 100,000 ranges takes 4 MB, and a doubling array would briefly need
 * three times that.
 */
public final class Packet {
  private static final int SMALL = 2 << 10;
  private static final int LARGE = 64 << 10;

  private final List<byte[]> full = new ArrayList<>();
  private byte[] piece = new byte[SMALL];
  private int used;
  private int size;
  private int messages;

  /** No messages yet. */
  public Packet() {}

  /** Adds a copy of the message; the writer can be reused. */
  public Packet add(MessageWriter message) {
    byte[] bytes = message.seal();
    add(bytes, message.length());
    int padding = -message.length() & 3;
    if (padding != 0) {
      add(new byte[padding], padding);
    }
    messages++;
    return this;
  }

  private void add(byte[] bytes, int length) {
    int done = 0;
    while (done < length) {
      if (used == piece.length) {
        full.add(piece);
        piece = new byte[LARGE];
        used = 0;
      }
      int part = Math.min(length - done, piece.length - used);
      System.arraycopy(bytes, done, piece, used, part);
      used += part;
      done += part;
    }
    size += length;
  }

  /** How many bytes there are in all. */
  public int size() {
    return size;
  }

  /** How many messages there are. */
  public int messages() {
    return messages;
  }

  /** All of it, with sequence numbers as if sent first on a socket: for tests and dumps. */
  public byte[] bytes() {
    byte[] all = new byte[size];
    copyTo(MemorySegment.ofArray(all), 0);
    return all;
  }

  /** Copies everything to {@code target} and numbers the messages. */
  void copyTo(MemorySegment target, int firstSequence) {
    long at = 0;
    for (byte[] each : full) {
      MemorySegment.copy(each, 0, target, ValueLayout.JAVA_BYTE, at, each.length);
      at += each.length;
    }
    MemorySegment.copy(piece, 0, target, ValueLayout.JAVA_BYTE, at, used);
    ByteBuffer numbered = target.asByteBuffer().order(ByteOrder.nativeOrder());
    int message = 0;
    for (int i = 0; i < messages; i++) {
      numbered.putInt(message + 8, firstSequence + i);
      message += numbered.getInt(message) + 3 & ~3;
    }
  }
}
