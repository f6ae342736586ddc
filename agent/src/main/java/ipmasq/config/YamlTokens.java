package ipmasq.config;

import ipmasq.config.Token.TokenKind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.NodeEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.parser.ParserImpl;
import org.snakeyaml.engine.v2.scanner.StreamReader;

/**
 * The first document of a YAML text.
 *
 * <p>A node with an anchor is recorded while it passes, its own aliases left as references; an
 * alias plays the recording back. So memory is proportional to the file's size, and nested aliases
 * ("YAML bombs") cost at most the allowed number of steps.
 */
final class YamlTokens implements Tokens {
  /** More than any file that the Go agents accept plays back, and still done in a moment. */
  private static final int MAX_PLAYED = 2_000_000;

  static final int MAX_DEPTH = 10_000;

  private final String text;
  private final ParserImpl parser;
  private final Deque<Opened> brackets = new ArrayDeque<>();
  private final Map<String, Recording> anchors = new HashMap<>();
  private final Deque<Recording> open = new ArrayDeque<>();
  private final Deque<Iterator<Step>> playing = new ArrayDeque<>();
  private int played;
  private int depth;
  private int line = 1;
  private int column = 1;
  private boolean ended;
  private boolean more;

  YamlTokens(String text) {
    this.text = text;
    LoadSettings settings =
        LoadSettings.builder()
            .setUseMarks(true)
            // The text is in memory already; what it grows to is bounded here, not by the engine.
            .setCodePointLimit(Integer.MAX_VALUE)
            .build();
    parser = new ParserImpl(settings, new StreamReader(settings, FileText.asYaml11(text)));
  }

  /** A bracket or brace that is not closed yet. */
  record Opened(char bracket, int line, int column) {}

  /** What a recording is made of. */
  private sealed interface Step {
    record Of(Token token) implements Step {}

    record Alias(Recording to) implements Step {}
  }

  private static final class Recording {
    final String name;
    final List<Step> steps = new ArrayList<>();
    int depth;

    Recording(String name) {
      this.name = name;
    }
  }

  /** Where the last token began. */
  int line() {
    return line;
  }

  int column() {
    return column;
  }

  /** Whether anything follows the document that was read: another one, or what is not YAML. */
  boolean followed() {
    return more;
  }

  @Override
  public Token next() throws SyntaxError {
    while (true) {
      Step step = playing.isEmpty() ? read() : play();
      if (step instanceof Step.Of(Token token)) {
        return token;
      }
    }
  }

  /** The next recorded step; an alias within leads one level deeper. */
  private Step play() throws SyntaxError {
    Iterator<Step> steps = playing.element();
    Step step = steps.next();
    if (!steps.hasNext()) {
      playing.pop();
    }
    if (++played > MAX_PLAYED) {
      throw new SyntaxError(
          line, column, "document contains excessive aliasing", "write the values out");
    }
    if (step instanceof Step.Alias alias) {
      playing.push(alias.to.steps.iterator());
    }
    return step;
  }

  private Step read() throws SyntaxError {
    if (ended) {
      return new Step.Of(Token.mark(TokenKind.END, line, column));
    }
    Event event = event();
    return switch (event.getEventId()) {
      case StreamStart, DocumentStart, Comment -> read();
      case StreamEnd -> end();
      case DocumentEnd -> {
        more = more();
        yield end();
      }
      case Alias -> alias((AliasEvent) event);
      case Scalar -> scalar((ScalarEvent) event);
      case SequenceStart -> opening(TokenKind.LIST, (CollectionStartEvent) event);
      case MappingStart -> opening(TokenKind.MAP, (CollectionStartEvent) event);
      case SequenceEnd -> closing(TokenKind.LIST_END);
      case MappingEnd -> closing(TokenKind.MAP_END);
    };
  }

  private boolean more() {
    try {
      return event().getEventId() == Event.ID.DocumentStart;
    } catch (SyntaxError _) {
      return true; // nobody is going to read it
    }
  }

  private Step end() {
    ended = true;
    return new Step.Of(Token.mark(TokenKind.END, line, column));
  }

  private Step alias(AliasEvent event) throws SyntaxError {
    String name = event.getAlias().getValue();
    Recording target = anchors.get(name);
    if (target == null) {
      throw new SyntaxError(
          line,
          column,
          "unknown anchor '" + name + "' referenced",
          "define it above with &" + name);
    }
    if (open.contains(target)) {
      throw new SyntaxError(
          line, column, "anchor '" + name + "' value contains itself", "write the value out");
    }
    Step step = new Step.Alias(target);
    record(step);
    playing.push(target.steps.iterator());
    return step;
  }

  private Step scalar(ScalarEvent event) throws SyntaxError {
    Token token =
        YamlScalar.token(
            event.getValue(), event.getTag().orElse(""), !event.isPlain(), line, column);
    begin(event);
    Step step = record(new Step.Of(token));
    finish();
    return step;
  }

  private Step opening(TokenKind kind, CollectionStartEvent event) throws SyntaxError {
    begin(event);
    brackets.push(
        new Opened(!event.isFlow() ? ' ' : kind == TokenKind.LIST ? '[' : '{', line, column));
    Step step = record(new Step.Of(Token.mark(kind, line, column)));
    if (++depth > MAX_DEPTH) {
      throw new SyntaxError(line, column, "exceeded max depth of " + MAX_DEPTH, "nest less");
    }
    return step;
  }

  private Step closing(TokenKind kind) {
    depth--;
    brackets.pop();
    Step step = record(new Step.Of(Token.mark(kind, line, column)));
    finish();
    return step;
  }

  private void begin(NodeEvent event) {
    if (event.getAnchor().isPresent()) {
      Recording recording = new Recording(event.getAnchor().get().getValue());
      recording.depth = depth;
      // The outer recording refers to the inner one: steps are kept once, however deep.
      record(new Step.Alias(recording));
      anchors.put(recording.name, recording);
      open.push(recording);
    }
  }

  private Step record(Step step) {
    if (!open.isEmpty()) {
      open.element().steps.add(step);
    }
    return step;
  }

  /** A node is complete: so is the recording that began with it. */
  private void finish() {
    if (!open.isEmpty() && open.element().depth == depth) {
      open.pop();
    }
  }

  private Event event() throws SyntaxError {
    Event event;
    try {
      event = parser.next();
    } catch (MarkedYamlEngineException e) {
      throw YamlErrors.error(e, text, brackets.peek(), line, column);
    } catch (RuntimeException e) {
      // The engine has been seen to leak others for odd escapes and directives; for us they all
      // mean that the text is not YAML.
      throw new SyntaxError(line, column, YamlErrors.oneLine(e), "");
    }
    Optional<Mark> mark = event.getStartMark();
    if (mark.isPresent()) {
      line = mark.get().getLine() + 1;
      column = mark.get().getColumn() + 1;
    }
    return event;
  }
}
