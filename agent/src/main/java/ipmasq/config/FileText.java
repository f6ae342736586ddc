package ipmasq.config;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.Charset;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/** The characters of a file: UTF-8, or UTF-16 if the file begins with its byte order mark. */
final class FileText {
  private static final char REPLACEMENT = '\ufffd';

  private FileText() {}

  /** Never fails: invalid bytes become U+FFFD. */
  static String decode(byte[] bytes) {
    int start = markLength(bytes);
    return new String(bytes, start, bytes.length - start, charset(bytes));
  }

  /** Whether JSON or YAML: the Go agents go by the first character that is no space of any kind. */
  static boolean beginsWithBrace(String text) {
    int at = 0;
    while (at < text.length() && isSpace(text.charAt(at))) {
      at++;
    }
    return text.startsWith("{", at);
  }

  private static boolean isSpace(char c) {
    return Character.isWhitespace(c) || Character.isSpaceChar(c) || c == 0x85;
  }

  /**
   * The text as YAML 1.1 has it, character for character in the same place: three more line breaks,
   * and tabs for spaces wherever a line has begun otherwise than by indentation and dashes.
   */
  static String asYaml11(String text) {
    String broken = text.replace('\u0085', '\n').replace('\u2028', '\n').replace('\u2029', '\n');
    if (broken.indexOf('\t') < 0) {
      return broken;
    }
    char[] chars = broken.toCharArray();
    boolean begun = false;
    for (int i = 0; i < chars.length; i++) {
      switch (chars[i]) {
        case '\n', '\r' -> begun = false;
        case '\t' -> chars[i] = begun ? ' ' : '\t';
        case ' ', '-', '?' -> {}
        default -> begun = true;
      }
    }
    return new String(chars);
  }

  /** Rejects what YAML never allows: broken encoding and control characters. */
  static void requirePrintable(byte[] bytes, String text) throws SyntaxError {
    int line = 1;
    int lineStart = 0;
    boolean replaced = false;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '\n') {
        line++;
        lineStart = i + 1;
      } else if (c < ' ' && c != '\t' && c != '\r' || c >= 0x7f && isSpecial(c)) {
        throw new SyntaxError(
            line,
            text.codePointCount(lineStart, i) + 1,
            "control characters are not allowed, found " + Phrases.quoted(String.valueOf(c)),
            "the file must be plain text");
      } else if (c == REPLACEMENT && !replaced) {
        replaced = true;
        requireEncoding(bytes);
      }
    }
  }

  private static boolean isSpecial(char c) {
    return c < 0xa0 && c != 0x85 || c >= 0xfffe;
  }

  private static void requireEncoding(byte[] bytes) throws SyntaxError {
    int start = markLength(bytes);
    Charset charset = charset(bytes);
    CharsetDecoder decoder =
        charset
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .onUnmappableCharacter(CodingErrorAction.REPORT);
    ByteBuffer in = ByteBuffer.wrap(bytes, start, bytes.length - start);
    CharBuffer out = CharBuffer.allocate(8192);
    int line = 1;
    int column = 1;
    while (true) {
      CoderResult result = decoder.decode(in, out, true);
      out.flip();
      while (out.hasRemaining()) {
        char c = out.get();
        line += c == '\n' ? 1 : 0;
        column = c == '\n' ? 1 : Character.isLowSurrogate(c) ? column : column + 1;
      }
      out.clear();
      if (result.isError()) {
        throw new SyntaxError(
            line, column, "not valid " + charset.name(), "save the file as UTF-8");
      }
      if (result.isUnderflow()) {
        return;
      }
    }
  }

  private static Charset charset(byte[] bytes) {
    return switch (firstTwo(bytes)) {
      case 0xfffe -> StandardCharsets.UTF_16LE;
      case 0xfeff -> StandardCharsets.UTF_16BE;
      default -> StandardCharsets.UTF_8;
    };
  }

  private static int markLength(byte[] bytes) {
    return switch (firstTwo(bytes)) {
      case 0xfffe, 0xfeff -> 2;
      case 0xefbb -> bytes.length > 2 && bytes[2] == (byte) 0xbf ? 3 : 0;
      default -> 0;
    };
  }

  private static int firstTwo(byte[] bytes) {
    return bytes.length < 2 ? 0 : (bytes[0] & 0xff) << 8 | bytes[1] & 0xff;
  }
}
