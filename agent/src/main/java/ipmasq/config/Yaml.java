package ipmasq.config;

import ipmasq.config.Problem.Place;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.snakeyaml.engine.v2.api.ConstructNode;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.comments.CommentLine;
import org.snakeyaml.engine.v2.common.Anchor;
import org.snakeyaml.engine.v2.composer.Composer;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.exceptions.ComposerException;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
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
 * The engine's composer of documents, with limits and with light scalars: the engine's own have two
 * marks, each with a part of the text, and 100,000 ranges take 37 MB instead of 14. JSON is YAML
 * here.
 */
final class Yaml extends Composer {
  private static final int MAX_DEPTH = 100;

  /** Aliases of lists and maps: with many, a small text means a huge document. */
  private static final int MAX_ALIASES = 50;

  /** The tag of a scalar that has none in the file. */
  private static final Tag UNTYPED = new Tag("untyped");

  private final String file;
  private int depth;
  private int values;

  private Yaml(String file, LoadSettings settings, Parser parser, int values) {
    super(settings, parser);
    this.file = file;
    this.values = values;
  }

  /**
   * The documents of a text. Its methods throw what {@link #report} takes.
   *
   * @param values how many values earlier files had: the limit is for all together
   */
  static Yaml of(String file, String text, int values) {
    LoadSettings settings =
        LoadSettings.builder()
            .setLabel(file)
            .setUseMarks(true)
            .setCodePointLimit(Integer.MAX_VALUE)
            .setMaxAliasesForCollections(MAX_ALIASES)
            .setSchema(new Untyped())
            .build();
    StreamReader reader = new StreamReader(settings, tabsAsSpaces(text));
    return new Yaml(file, settings, new ParserImpl(settings, reader), values);
  }

  /** YAML 1.1 takes tabs for spaces, but for those that indent a line outside of braces. */
  private static String tabsAsSpaces(String text) {
    if (text.indexOf('\t') < 0 || text.stripLeading().startsWith("{")) {
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

  int values() {
    return values;
  }

  /** The place of the next document. */
  Place place() {
    return Place.of(mark().orElseThrow());
  }

  private Optional<Mark> mark() {
    return parser.peekEvent().getStartMark();
  }

  @Override
  protected Node composeScalarNode(Optional<Anchor> anchor, List<CommentLine> comments) {
    if (anchor.isPresent() || ((ScalarEvent) parser.peekEvent()).getTag().isPresent()) {
      return super.composeScalarNode(anchor, comments);
    }
    count();
    return new LightScalar(file, (ScalarEvent) parser.next());
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
      throw new ComposerException("nested more than " + MAX_DEPTH + " deep", mark());
    }
  }

  private void count() {
    if (++values > FileSnapshot.MAX_VALUES) {
      throw new ComposerException("too large for the agent: " + FileSnapshot.values(), mark());
    }
  }

  /** A scalar that knows its place. */
  static final class LightScalar extends ScalarNode {
    final String file;
    final int line;
    final int column;

    LightScalar(String file, ScalarEvent event) {
      super(
          UNTYPED,
          true,
          event.getValue(),
          event.getScalarStyle(),
          Optional.empty(),
          Optional.empty());
      Mark start = event.getStartMark().orElseThrow();
      this.file = file;
      line = start.getLine() + 1;
      column = start.getColumn() + 1;
    }
  }

  /** Leaves it to {@link Value} what a scalar means, which the engine knows only for YAML 1.2. */
  private static final class Untyped implements Schema {
    @Override
    public ScalarResolver getScalarResolver() {
      return (value, plain) -> UNTYPED;
    }

    @Override
    public Map<Tag, ConstructNode> getSchemaTagConstructors() {
      return Map.of();
    }
  }

  /**
   * A mistake.
   *
   * @param part of what the engine says of it
   * @param begun whether it is where the engine began, not where it noticed
   * @param message instead; empty: the engine's; with the place where it noticed and the line where
   *     it began
   */
  private record Mistake(String part, boolean begun, String message, String hint) {}

  private static final List<Mistake> MISTAKES =
      List.of(
          new Mistake("TAB", false, "a tab cannot indent", "use spaces: YAML takes no tabs there"),
          new Mistake(
              "could not find expected ':'",
              true,
              "not YAML: %2$s is neither a key with its colon nor in a list",
              "write \"- \" before an element of a list, and \": \" after a key"),
          new Mistake(
              "<block end>",
              false,
              "not YAML: the indentation does not fit the lines above",
              "indent the keys alike, and the elements of a list alike"),
          new Mistake("end of stream", true, "not YAML: the quote is not closed", "close it"),
          new Mistake("<stream end>", true, "not YAML: the bracket is not closed", "close it"),
          new Mistake(
              "expected ',' or",
              true,
              "not YAML: the bracket is not closed, or a comma is missing before %1$s",
              "write the comma, or the closing bracket after the last element"),
          new Mistake(
              "<document start>", false, "something follows the closing brace", "remove it"),
          new Mistake("undefined alias", false, "", "define it above, with & and its name"),
          new Mistake("mapping values", false, "", "a value that contains \": \" needs quotes"),
          new Mistake(
              "found ':'", false, "", "an IPv6 range that begins with a colon needs quotes"),
          new Mistake("cannot start any token", false, "", "put the text in quotes"),
          new Mistake("nested more than", false, "", "nest less"),
          new Mistake("too large", false, "", FileSnapshot.ADVICE),
          new Mistake("", false, "", ""));

  /** Reports why a text is not YAML, at the place of the mistake, not where it was noticed. */
  static void report(RuntimeException e, String file, String text, Problems problems) {
    switch (e) {
      case MarkedYamlEngineException marked -> report(marked, file, text, problems);
      case ReaderException control ->
          problems.error(
              Place.of(file, text, text.indexOf(control.getCodePoint())),
              "control characters are not allowed, found "
                  + Words.quoted(Character.toString(control.getCodePoint())),
              "the file must be plain text");
      // Too many aliases have no place, and the engine leaks other exceptions for odd escapes and
      // directives.
      default -> {
        String what = flat(String.valueOf(e.getMessage()));
        boolean aliases = what.contains("Number of aliases");
        problems.error(
            new Place(file, 1, 1),
            aliases ? "document contains excessive aliasing" : "not YAML: " + what,
            aliases ? "write the values out" : "");
      }
    }
  }

  private static void report(
      MarkedYamlEngineException e, String file, String text, Problems problems) {
    String problem = flat(String.valueOf(e.getProblem())).replaceFirst("\\. \\(Do not use.*", "");
    Place noticed = e.getProblemMark().or(e::getContextMark).map(Place::of).orElse(Place.of(file));
    Place begun = e.getContextMark().map(Place::of).orElse(noticed);
    String line = text.lines().skip(Math.max(0, begun.line() - 1)).findFirst().orElse("");
    String where = noticed.line() + ":" + noticed.column();
    Mistake mistake =
        MISTAKES.stream().filter(it -> problem.contains(it.part)).findFirst().orElseThrow();
    boolean ours = problem.startsWith("too large") || problem.startsWith("nested more than");
    problems.error(
        mistake.begun ? begun : noticed,
        mistake.message.isEmpty()
            ? (ours ? "" : "not YAML: ") + problem
            : mistake.message.formatted(where, Words.quoted(line.strip())),
        mistake.hint);
  }

  private static String flat(String text) {
    return text.replaceAll("[\\s\\p{Cntrl}]+", " ").strip();
  }
}
