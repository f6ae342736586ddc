package ipmasq.cni;

import static java.nio.charset.StandardCharsets.UTF_8;

import ipmasq.json.JsonReader;
import ipmasq.json.JsonValue;
import ipmasq.json.MalformedJson;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * The bytes of a file and the JSON they spell. An edit replaces some bytes; all others stay: order,
 * indentation, line ends, number formats, a byte order mark.
 */
final class JsonDocument {
  private final byte[] bytes;
  private final JsonValue.Obj root;

  private JsonDocument(byte[] bytes, JsonValue.Obj root) {
    this.bytes = bytes;
    this.root = root;
  }

  static JsonDocument read(byte[] bytes) throws MalformedJson {
    requireUtf8(bytes);
    JsonValue root = JsonValue.read(bytes);
    if (root instanceof JsonValue.Obj object) {
      return new JsonDocument(bytes.clone(), object);
    }
    throw new MalformedJson(root.from(), "expected an object");
  }

  /** PowerShell's redirection writes UTF-16. */
  private static void requireUtf8(byte[] bytes) throws MalformedJson {
    int mark = bytes.length < 2 ? 0 : (bytes[0] & 0xff) << 8 | bytes[1] & 0xff;
    if (mark == 0xfffe || mark == 0xfeff) {
      throw new MalformedJson(0, "the file is UTF-16, but CNI plugins read UTF-8");
    }
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

  JsonValue.Obj root() {
    return root;
  }

  byte[] bytes() {
    return bytes.clone();
  }

  int size() {
    return bytes.length;
  }

  boolean spells(byte[] other) {
    return Arrays.equals(bytes, other);
  }

  /** The text between two bytes of the file. */
  String text(int from, int to) {
    return new String(bytes, from, to - from, UTF_8);
  }

  String text(JsonValue value) {
    return text(value.from(), value.to());
  }

  String place(int at) {
    return place(bytes, at);
  }

  /** {@code line:column} of a byte, both from 1, the column in characters. */
  static String place(byte[] bytes, int at) {
    return JsonReader.place(bytes, at).toString();
  }
}
