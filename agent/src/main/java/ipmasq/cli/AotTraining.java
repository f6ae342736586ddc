package ipmasq.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs several commands one after the other in one process, so that an AOT cache is trained on all
 * of them. Only the build starts it (tools/train).
 *
 * <p>The command lines are separated by {@code --and}; the last runs as the whole program, with
 * signal handling and exit.
 */
public final class AotTraining {
  private AotTraining() {}

  public static void main(String[] args) {
    PrintStream err =
        new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
    List<String> line = new ArrayList<>();
    for (String word : args) {
      if (word.equals("--and")) {
        int code = Main.run(List.copyOf(line), System.in, err, err);
        err.println("rehearsed " + String.join(" ", line) + ": " + code);
        line.clear();
      } else {
        line.add(word);
      }
    }
    Main.main(line.toArray(new String[0]));
  }
}
