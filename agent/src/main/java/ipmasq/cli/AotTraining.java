package ipmasq.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs several commands one after the other, so that the one process that an AOT cache is trained
 * on has seen them all. Only the build starts it (tools/train).
 *
 * <p>The command lines are separated by {@code --and}; the last is the whole program, with its
 * signals and its end.
 */
public final class AotTraining {
  private AotTraining() {}

  public static void main(String[] args) {
    PrintStream err =
        new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
    List<String> line = new ArrayList<>();
    for (String word : args) {
      if (word.equals("--and")) {
        int code = Main.run(List.copyOf(line), err, err);
        err.println("rehearsed " + String.join(" ", line) + ": " + code);
        line.clear();
      } else {
        line.add(word);
      }
    }
    Main.main(line.toArray(new String[0]));
  }
}
