package ipmasq.cli;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A command of the agent, run in this JVM by the thread that calls: where many are needed. */
public final class InProcess {
  private InProcess() {}

  /** What came of a command. */
  record Answer(int exit, String out, String err) {}

  static Answer answer(String... words) {
    return fed("", words);
  }

  /** With this on the standard input. */
  static Answer fed(String stdin, String... words) {
    InputStream in = new ByteArrayInputStream(stdin.getBytes(StandardCharsets.UTF_8));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    int code = Main.run(List.of(words), in, stream(out), stream(err));
    return new Answer(
        code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
  }

  /** What it prints, where it succeeds. */
  public static String run(String... words) {
    Answer answer = answer(words);
    if (answer.exit != Main.OK) {
      throw new AssertionError(String.join(" ", words) + ": " + answer);
    }
    return answer.out;
  }

  private static PrintStream stream(ByteArrayOutputStream bytes) {
    return new PrintStream(bytes, true, StandardCharsets.UTF_8);
  }
}
