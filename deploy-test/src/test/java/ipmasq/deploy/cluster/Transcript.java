package ipmasq.deploy.cluster;

import ipmasq.deploy.Project;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Commands and what they printed, as Markdown. What differs from run to run and means nothing is
 * made the same: suffixes of pods' names, ages, times, folders. It is written to its file as it
 * grows. Used by one thread.
 */
final class Transcript {
  private record Replacement(Pattern what, String by) {}

  private static final List<Replacement> SAME =
      List.of(
          with("(ip-masq-agent(?:-cleanup|-dry-run)?|web|shop|pod/web)-[a-z0-9]{5}\\b", "$1-xxxxx"),
          with("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?Z", "2026-01-01T00:00:00Z"),
          with("(?<=   )\\d+s +(?=v)", "9s    "),
          with("sha256:[0-9a-f]{64}", "sha256:0123…"),
          with("elapsed: [0-9.]+ *s\\b.*", "elapsed: 2.0 s"),
          with("\\(\\d+ s\\)", "(2 s)"),
          with(" on n[12], since", " on n1, since"),
          with("\\(commit [^)]*\\)", "(commit 0123456)"),
          with("within \\d+ s", "within 5 s"),
          with(
              "none sampled yet|\\d+ sampled[^,;]*, all as the config says",
              "120 sampled in the last minute, all as the config says"),
          with("Live flows: .*", "Live flows: none sampled yet"),
          with("\\d+ of \\d+ sampled flows", "120 of 120 sampled flows"),
          // A kustomization in deploy-test/target, as it is from a folder beside deploy.
          with("(?:\\.\\./){3}deploy/", "../deploy/"));

  private final Path file;
  private final StringBuilder text = new StringBuilder();
  private final List<String> folders = new ArrayList<>();
  private boolean inside;

  Transcript(Path file) throws IOException {
    this.file = file;
    Files.createDirectories(file.getParent());
    folders.add(Project.ROOT + "/");
    // The files of the story, which a reader has where he is.
    folders.add("deploy-test/target/");
  }

  private static Replacement with(String what, String by) {
    return new Replacement(Pattern.compile(what), by);
  }

  /** Prose between the commands. */
  void say(String paragraph) throws IOException {
    close();
    text.append(paragraph.strip()).append("\n\n");
    Files.writeString(file, markdown());
  }

  void command(String command, Terminal.Said said) throws IOException {
    if (!inside) {
      text.append("```\n");
      inside = true;
    }
    text.append("$ ").append(same(command)).append('\n').append(same(said.text()));
    if (!said.text().isEmpty() && !said.text().endsWith("\n")) {
      text.append('\n');
    }
    if (said.exit() != 0) {
      text.append("(exit ").append(said.exit()).append(")\n");
    }
    Files.writeString(file, markdown());
  }

  private void close() {
    if (inside) {
      text.append("```\n\n");
      inside = false;
    }
  }

  private String same(String words) {
    for (var folder : folders) {
      words = words.replace(folder, "");
    }
    for (var replacement : SAME) {
      words = replacement.what().matcher(words).replaceAll(replacement.by());
    }
    return words;
  }

  /** A folder that is named differently each time. */
  void hide(String folder) {
    folders.add(folder.endsWith("/") ? folder : folder + "/");
  }

  String markdown() {
    return text.toString().strip() + "\n" + (inside ? "```\n" : "");
  }
}
