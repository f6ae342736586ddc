package ipmasq.backend.iptables;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Consumer;

/** Cuts a stream of bytes into lines, without ever holding more than one of them. */
final class Lines {
  private final Consumer<String> sink;
  private byte[] partial = new byte[256];
  private int length;

  Lines(Consumer<String> sink) {
    this.sink = sink;
  }

  void accept(byte[] bytes, int count) {
    int from = 0;
    for (int i = 0; i < count; i++) {
      if (bytes[i] == '\n') {
        append(bytes, from, i);
        flush();
        from = i + 1;
      }
    }
    append(bytes, from, count);
  }

  /** The last line, where it had no end. */
  void end() {
    if (length > 0) {
      flush();
    }
  }

  private void append(byte[] bytes, int from, int to) {
    int more = to - from;
    if (length + more > partial.length) {
      partial = Arrays.copyOf(partial, Math.max(length + more, partial.length * 2));
    }
    System.arraycopy(bytes, from, partial, length, more);
    length += more;
  }

  private void flush() {
    sink.accept(new String(partial, 0, length, StandardCharsets.UTF_8));
    length = 0;
  }
}
