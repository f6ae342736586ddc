package ipmasq.iptables;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Splits a stream of bytes into lines, holding at most one at a time, and truncating absurdly long
 * ones.
 */
public final class Lines {
  /** No iptables program writes longer lines. */
  private static final int LONGEST = 1 << 20;

  private final Consumer<String> sink;
  private long bytes;
  private byte[] partial = new byte[256];
  private int length;

  public Lines(Consumer<String> sink) {
    this.sink = sink;
  }

  public void accept(byte[] read, int count) {
    bytes += count;
    int from = 0;
    for (int i = 0; i < count; i++) {
      if (read[i] == '\n') {
        append(read, from, i);
        flush();
        from = i + 1;
      }
    }
    append(read, from, count);
  }

  /** How many there were so far. */
  long bytes() {
    return bytes;
  }

  /** The last line, if it had no line end. */
  public void end() {
    if (length > 0) {
      flush();
    }
  }

  private void append(byte[] read, int from, int to) {
    int more = Math.min(to - from, LONGEST - length);
    if (length + more > partial.length) {
      partial = Arrays.copyOf(partial, Math.max(length + more, partial.length * 2));
    }
    System.arraycopy(read, from, partial, length, more);
    length += more;
  }

  private void flush() {
    sink.accept(new String(partial, 0, length, StandardCharsets.UTF_8));
    length = 0;
  }
}
