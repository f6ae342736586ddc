package ipmasq.cli;

import ipmasq.config.Nearest;
import java.io.PrintStream;
import java.util.List;

/** What the program can do, and each of its commands, on a page of 80 columns. */
final class Help {
  private static final int WIDTH = 80;
  private static final int COMMANDS = 21;
  private static final int FLAGS = 34;

  private Help() {}

  /** All commands, and the flags of the default command. */
  static int print(PrintStream out) {
    StringBuilder text =
        new StringBuilder("Keeps a node's masquerading rules in line with a config file.\n");
    text.append("\nUsage: ip-masq-agent [COMMAND] [FLAGS]\n\nCommands:\n");
    for (Command command : Command.values()) {
      row("  " + command.usage(), COMMANDS, command.purpose, text);
    }
    text.append("\nFlags of run, the default command:\n");
    flags(Command.RUN, text);
    text.append("\nThe logging flags of klog are accepted too; all but --v do nothing.\n");
    text.append("ip-masq-agent COMMAND --help shows its flags, exit codes and an example.\n");
    out.print(text);
    return Main.OK;
  }

  static int print(Command command, PrintStream out) {
    StringBuilder text = new StringBuilder();
    text.append("Usage: ip-masq-agent ").append(command.usage()).append(" [FLAGS]\n\n");
    String purpose = command.purpose;
    wrap(Character.toUpperCase(purpose.charAt(0)) + purpose.substring(1) + ".", 0, text);
    if (!command.details.isEmpty()) {
      wrap(command.details, 0, text);
    }
    text.append("\nFlags:\n");
    flags(command, text);
    text.append("\nExit codes:\n");
    for (String exit : command.exits.split(", ")) {
      text.append("  ").append(exit).append('\n');
    }
    text.append("  ").append(Main.USAGE).append(" wrong usage\n");
    text.append("\nExample:\n  ip-masq-agent ").append(command.example).append('\n');
    out.print(text);
    return Main.OK;
  }

  /** The closest known word, after a complaint about another. */
  static String didYouMean(String word, List<String> known, String dashes) {
    return Nearest.to(word, known).map(near -> ": did you mean " + dashes + near + "?").orElse("");
  }

  private static void flags(Command command, StringBuilder text) {
    for (Flag flag : Flag.ALL) {
      if (!flag.help().isEmpty() && command.takes(flag)) {
        String value = flag.value().isEmpty() ? "" : "=" + flag.value();
        row("  " + flag + value, FLAGS, flag.help(), text);
      }
    }
  }

  /** Two columns; a left one that is too long gets its own line. */
  private static void row(String left, int column, String right, StringBuilder text) {
    text.append(left);
    if (left.length() < column - 1) {
      text.repeat(' ', column - left.length());
    } else {
      text.append('\n').repeat(' ', column);
    }
    wrap(right, column, text);
  }

  /** The words from a column on, which the text has reached. */
  private static void wrap(String words, int column, StringBuilder text) {
    int at = column;
    for (String word : words.split(" ")) {
      if (at > column && at + 1 + word.length() > WIDTH) {
        text.append('\n').repeat(' ', column);
        at = column;
      }
      if (at > column) {
        text.append(' ');
        at++;
      }
      text.append(word);
      at += word.length();
    }
    text.append('\n');
  }
}
