package ipmasq.backend.cni;

import static java.nio.charset.StandardCharsets.UTF_8;

import ipmasq.backend.cni.Json.Malformed;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * The bytes of a file and the JSON they spell. An edit replaces some bytes; all others stay: order,
 * indentation, line ends, number formats, a byte order mark.
 */
final class Document {
  private final byte[] bytes;
  private final Json.Obj root;

  private Document(byte[] bytes, Json.Obj root) {
    this.bytes = bytes;
    this.root = root;
  }

  static Document read(byte[] bytes) throws Malformed {
    Json root = JsonScanner.read(bytes);
    if (root instanceof Json.Obj object) {
      return new Document(bytes.clone(), object);
    }
    throw new Malformed(root.from(), "expected an object");
  }

  /** The bytes from {@code from} to before {@code to} become {@code text}. */
  record Edit(int from, int to, String text) {}

  byte[] with(List<Edit> edits) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(bytes.length);
    int copied = 0;
    for (Edit edit : edits.stream().sorted(Comparator.comparingInt(Edit::from)).toList()) {
      out.write(bytes, copied, edit.from - copied);
      out.writeBytes(edit.text.getBytes(UTF_8));
      copied = edit.to;
    }
    out.write(bytes, copied, bytes.length - copied);
    return out.toByteArray();
  }

  Json.Obj root() {
    return root;
  }

  byte[] bytes() {
    return bytes.clone();
  }

  boolean spells(byte[] other) {
    return Arrays.equals(bytes, other);
  }

  /** The text between two bytes of the file. */
  String text(int from, int to) {
    return new String(bytes, from, to - from, UTF_8);
  }

  String text(Json value) {
    return text(value.from(), value.to());
  }

  String place(int at) {
    return place(bytes, at);
  }

  /** {@code line:column} of a byte, both from 1, the column in characters. */
  static String place(byte[] bytes, int at) {
    int line = 1;
    int start = startsWithMark(bytes) ? 3 : 0;
    for (int i = 0; i < at; i++) {
      if (bytes[i] == '\n' || bytes[i] == '\r' && !(i + 1 < bytes.length && bytes[i + 1] == '\n')) {
        line++;
        start = i + 1;
      }
    }
    int column = 1;
    for (int i = start; i < at; i++) {
      column += (bytes[i] & 0xc0) == 0x80 ? 0 : 1;
    }
    return line + ":" + column;
  }

  private static boolean startsWithMark(byte[] bytes) {
    return bytes.length >= 3
        && bytes[0] == (byte) 0xef
        && bytes[1] == (byte) 0xbb
        && bytes[2] == (byte) 0xbf;
  }
}
