package ipmasq.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.config.Token.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The YAML engine is the judge: what is read without it is read as it would read it. */
class LineTokensTest {
  private static List<String> all(Tokens tokens) {
    List<String> all = new ArrayList<>();
    try {
      Token token;
      do {
        token = tokens.next();
        all.add(token.toString());
      } while (token.kind() != Kind.END);
    } catch (SyntaxError e) {
      Problems problems = new Problems("file");
      e.reportTo(problems);
      all.add(problems.list().toString());
    }
    return all;
  }

  private static void assertAgrees(String text) {
    if (LineTokens.read(text)) {
      assertEquals(all(new YamlTokens(text)), all(new LineTokens(text)), text);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nonMasqueradeCIDRs:\n  - 10.0.0.0/8\n  - \"fd00::/8\"\nresyncInterval: 60s\n",
        "nonMasqueradeCIDRs:\n- 10.0.0.0/8\n\n# why\n- fd00::/8   # and this\nmasqLinkLocal: true",
        "# a comment\n\na: 'single # quoted'\nb:   \"x\"  \nc:\nd: # nothing\ne: 0x40\n   ",
        "a:\n    # deep\n  - 1.5\n # less deep\n  - yes\nyes: no\n   # end",
        "a: b",
        "a:",
        "resyncInterval: 1.5h\nnumber: 0100\nfraction: 1e3\nsexagesimal: 1:30\n",
      })
  void isReadLikeThis(String text) {
    assertTrue(LineTokens.read(text), text);
    assertAgrees(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "# nothing\n",
        "---\na: b\n",
        "a: b\n---\n",
        "a: b\n...\n",
        "a: [1, 2]\n",
        "a: {b: c}\n",
        "a: &x 1\n",
        "a: *x\n",
        "a: !!str 1\n",
        "a: |\n  text\n",
        "a: b c\n",
        "a: b\n  c\n",
        "a: b\n  - c\n",
        "a:\n- b\n  - c\n",
        "a:\n  - b\n- c\n",
        "a:\n  b: c\n",
        "a:\n- b: c\n",
        "a:\n-\n",
        "a:\n- \n",
        "a:\n-b\n",
        "a:b\n",
        "a : b\n",
        "\"a\": b\n",
        " a: b\n",
        "- a\n",
        "a: \"b\\n\"\n",
        "a: 'it''s'\n",
        "a: \"b\n  c\"\n",
        "a: \"b\"c\n",
        "a: b#c\n",
        "a: \"b\"#c\n",
        "a: ::1\n",
        "a: fe80::\n",
        "a: \tb\n",
        "a: b\r\n",
        "a: b # \u00e9\n",
        "<<: b\n",
        "a: -1\n",
        "%YAML 1.1\n",
      })
  void isTheEnginesBusiness(String text) {
    assertFalse(LineTokens.read(text), text);
  }

  static Stream<Case> recorded() {
    return Stream.concat(Case.all().stream(), Case.own().stream())
        .filter(recorded -> recorded.file().isPresent());
  }

  @ParameterizedTest
  @MethodSource("recorded")
  void agreesOnWhatWasRecorded(Case recorded) {
    assertAgrees(FileText.decode(recorded.file().get()));
  }

  @Test
  void agreesOnWhateverIsMadeOfPieces() {
    String[] pieces = {
      "a:",
      "key:",
      " ",
      "  ",
      "- ",
      "-",
      "\n",
      "\n",
      "\n",
      "10.0.0.0/8",
      "fd00::/8",
      "::",
      "x",
      "1",
      "0x1f",
      "yes",
      "null",
      "\"q\"",
      "'q'",
      "\"",
      "'",
      "#",
      " # c",
      ":",
      ": ",
      ",",
      "[",
      "{",
      "~",
      "1_000",
      "..",
      "---",
      "a: b",
      "key: 1\n",
      "a:\n",
      "  - 1\n",
      "- 2\n",
      "<<",
      "*",
      "&",
      "!",
      "%"
    };
    Random random = new Random(25);
    int read = 0;
    for (int i = 0; i < 60_000; i++) {
      StringBuilder text = new StringBuilder(i % 2 == 0 ? "a:" : "");
      for (int n = random.nextInt(12); n > 0; n--) {
        text.append(pieces[random.nextInt(pieces.length)]);
      }
      read += LineTokens.read(text.toString()) ? 1 : 0;
      assertAgrees(text.toString());
    }
    assertTrue(read > 2_000, read + " of these were read");
  }
}
