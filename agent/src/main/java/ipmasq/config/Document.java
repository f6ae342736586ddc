package ipmasq.config;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.snakeyaml.engine.v2.api.ConstructNode;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.comments.CommentLine;
import org.snakeyaml.engine.v2.common.Anchor;
import org.snakeyaml.engine.v2.composer.Composer;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.ParserException;
import org.snakeyaml.engine.v2.exceptions.ReaderException;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;
import org.snakeyaml.engine.v2.parser.Parser;
import org.snakeyaml.engine.v2.parser.ParserImpl;
import org.snakeyaml.engine.v2.resolver.ScalarResolver;
import org.snakeyaml.engine.v2.scanner.StreamReader;
import org.snakeyaml.engine.v2.schema.Schema;

/**
 * A text as the YAML engine composes it; JSON is YAML here.
 *
 * @param top the value of the first document; empty if there is none
 * @param next where another document begins, which nobody reads
 * @param braces whether the file begins with a brace, as JSON does
 */
record Document(Optional<Value> top, Optional<Place> next, boolean braces) {
  private static final int MAX_DEPTH = 100;

  /** Aliases of lists and maps: with many, a small text means a huge document. */
  private static final int MAX_ALIASES = 50;

  /** A place in a text, both from 1. */
  record Place(int line, int column) {
    static Place of(String text, int index) {
      int start = text.lastIndexOf('\n', index - 1) + 1;
      int line = 1 + (int) text.substring(0, start).chars().filter(c -> c == '\n').count();
      return new Place(line, text.codePointCount(start, index) + 1);
    }
  }

  static Document of(String text) throws SyntaxError {
    LightComposer composer = LightComposer.of(tabsAsSpaces(text));
    try {
      Optional<Value> top =
          composer.hasNext() ? Optional.of(Value.of(composer.next())) : Optional.empty();
      return new Document(top, next(composer), isBraced(text));
    } catch (Exceeded e) {
      throw e.error;
    } catch (MarkedYamlEngineException e) {
      throw SyntaxError.of(e, text);
    } catch (ReaderException e) {
      Place at = Place.of(text, text.indexOf(e.getCodePoint()));
      throw new SyntaxError(
          at,
          "control characters are not allowed, found "
              + Phrases.quoted(Character.toString(e.getCodePoint())),
          "the file must be plain text");
    } catch (RuntimeException e) {
      // Too many aliases have no place, and the engine leaks other exceptions for odd escapes and
      // directives.
      String what = SyntaxError.oneLine(e);
      throw what.contains("Number of aliases")
          ? new SyntaxError(
              new Place(1, 1), "document contains excessive aliasing", "write the values out")
          : new SyntaxError(new Place(1, 1), what, "");
    }
  }

  private static Optional<Place> next(LightComposer composer) {
    try {
      return composer.hasNext() ? Optional.of(composer.place()) : Optional.empty();
    } catch (ParserException notEvenADocument) {
      return notEvenADocument
          .getProblemMark()
          .map(m -> new Place(m.getLine() + 1, m.getColumn() + 1));
    }
  }

  /** Every document of a text; none if one of them is not YAML. */
  static List<Value> all(String text) {
    List<Value> documents = new ArrayList<>();
    try {
      LightComposer.of(tabsAsSpaces(text)).forEachRemaining(node -> documents.add(Value.of(node)));
      return documents;
    } catch (RuntimeException notYaml) {
      return List.of();
    }
  }

  private static boolean isBraced(String text) {
    return text.stripLeading().startsWith("{");
  }

  /** YAML 1.1 takes tabs for spaces, but for those that indent a line outside of braces. */
  private static String tabsAsSpaces(String text) {
    if (text.indexOf('\t') < 0 || isBraced(text)) {
      return text.replace('\t', ' ');
    }
    char[] chars = text.toCharArray();
    boolean begun = false;
    for (int i = 0; i < chars.length; i++) {
      begun = chars[i] != '\n' && chars[i] != '\r' && (begun || " -?\t".indexOf(chars[i]) < 0);
      chars[i] = begun && chars[i] == '\t' ? ' ' : chars[i];
    }
    return new String(chars);
  }

  /** The characters of a file, which is UTF-8, perhaps with a byte order mark. */
  static String decode(byte[] bytes) throws SyntaxError {
    int two = bytes.length < 2 ? 0 : (bytes[0] & 0xff) << 8 | bytes[1] & 0xff;
    if (two == 0xfffe || two == 0xfeff) {
      throw new SyntaxError(
          new Place(1, 1),
          "the file is UTF-16",
          "save it as UTF-8; PowerShell's > writes UTF-16, | Out-File -Encoding utf8 does not");
    }
    int mark = two == 0xefbb && bytes.length > 2 && bytes[2] == (byte) 0xbf ? 3 : 0;
    CharBuffer out = CharBuffer.allocate(bytes.length);
    ByteBuffer in = ByteBuffer.wrap(bytes, mark, bytes.length - mark);
    CoderResult result = StandardCharsets.UTF_8.newDecoder().decode(in, out, true);
    String text = out.flip().toString();
    if (result.isError()) {
      throw new SyntaxError(
          Place.of(text, text.length()), "not valid UTF-8", "save the file as UTF-8");
    }
    return text;
  }

  /** A scalar that knows its place. */
  static final class PlacedScalar extends ScalarNode {
    final int line;
    final int column;

    PlacedScalar(Tag tag, ScalarEvent event) {
      super(
          tag, true, event.getValue(), event.getScalarStyle(), Optional.empty(), Optional.empty());
      line = event.getStartMark().orElseThrow().getLine() + 1;
      column = event.getStartMark().orElseThrow().getColumn() + 1;
    }
  }

  /**
   * The engine's composer with a limit of depth, and with light scalars: the engine's own have two
   * marks, each with a part of the text, and 100,000 ranges take 37 MB instead of 14.
   */
  private static final class LightComposer extends Composer {
    private int depth;
    private int values;

    private LightComposer(LoadSettings settings, Parser parser) {
      super(settings, parser);
    }

    static LightComposer of(String text) {
      LoadSettings settings =
          LoadSettings.builder()
              .setUseMarks(true)
              .setCodePointLimit(Integer.MAX_VALUE)
              .setMaxAliasesForCollections(MAX_ALIASES)
              .setSchema(new Untyped())
              .build();
      return new LightComposer(
          settings, new ParserImpl(settings, new StreamReader(settings, text)));
    }

    Place place() {
      var mark = parser.peekEvent().getStartMark().orElseThrow();
      return new Place(mark.getLine() + 1, mark.getColumn() + 1);
    }

    @Override
    protected Node composeScalarNode(Optional<Anchor> anchor, List<CommentLine> comments) {
      if (anchor.isPresent() || ((ScalarEvent) parser.peekEvent()).getTag().isPresent()) {
        return super.composeScalarNode(anchor, comments);
      }
      count();
      return new PlacedScalar(Value.UNTYPED, (ScalarEvent) parser.next());
    }

    @Override
    protected SequenceNode composeSequenceNode(Optional<Anchor> anchor) {
      enter();
      SequenceNode node = super.composeSequenceNode(anchor);
      depth--;
      return node;
    }

    @Override
    protected Node composeMappingNode(Optional<Anchor> anchor) {
      enter();
      Node node = super.composeMappingNode(anchor);
      depth--;
      return node;
    }

    private void enter() {
      count();
      if (++depth > MAX_DEPTH) {
        throw new Exceeded(
            new SyntaxError(place(), "nested more than " + MAX_DEPTH + " deep", "nest less"));
      }
    }

    private void count() {
      if (++values > SizeLimit.VALUES) {
        throw new Exceeded(
            new SyntaxError(
                place(), "too large for the agent: " + SizeLimit.values(), SizeLimit.advice()));
      }
    }
  }

  /** Carries an error through the engine. */
  private static final class Exceeded extends RuntimeException {
    private static final long serialVersionUID = 1;
    final SyntaxError error;

    Exceeded(SyntaxError error) {
      super(error);
      this.error = error;
    }
  }

  /** Leaves it to {@link Value} what a scalar means, which the engine knows only for YAML 1.2. */
  private static final class Untyped implements Schema {
    @Override
    public ScalarResolver getScalarResolver() {
      return (value, plain) -> Value.UNTYPED;
    }

    @Override
    public Map<Tag, ConstructNode> getSchemaTagConstructors() {
      return Map.of();
    }
  }
}
