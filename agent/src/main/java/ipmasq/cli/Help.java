package ipmasq.cli;

import ipmasq.config.Words;
import java.util.List;

/** What the program can do, and each of its commands. */
final class Help {
  private Help() {}

  static int run(CommandContext context) throws WrongUsage {
    List<String> words = context.line().operands();
    context.out().print(words.isEmpty() ? overview() : of(Command.named(words.getFirst())));
    return Main.OK;
  }

  private static String overview() {
    StringBuilder text =
        new StringBuilder("Keeps a node's masquerading rules in line with a config file.\n");
    text.append("\nUsage: ip-masq-agent [COMMAND] [FLAGS]\n\nCommands:\n");
    for (Command command : Command.values()) {
      text.append("  %-17s %s%n".formatted(command.usage(), command.purpose));
    }
    text.append("\nFlags of run, the default command:\n");
    flags(Command.RUN, text);
    text.append("\nThe logging flags of klog are accepted too; all but --v do nothing.\n");
    text.append("ip-masq-agent COMMAND --help shows its flags, exit codes and an example.\n");
    return text.toString();
  }

  private static String of(Command command) {
    StringBuilder text = new StringBuilder();
    text.append("Usage: ip-masq-agent ").append(command.usage()).append(" [FLAGS]\n\n");
    String purpose = command.purpose;
    text.append(Character.toUpperCase(purpose.charAt(0))).append(purpose.substring(1));
    text.append(".\n").append(command.details);
    if (command.followsAgent()) {
      text.append("Beside a running agent, it uses that agent's flags unless it has its own.\n");
    }
    text.append("\nFlags:\n");
    flags(command, text);
    text.append("\nExit codes:\n");
    for (String exit : command.exits.split(", ")) {
      text.append("  ").append(exit).append('\n');
    }
    text.append("  ").append(Main.USAGE).append(" wrong usage\n");
    text.append("\nExample:\n  ip-masq-agent ").append(command.example).append('\n');
    return text.toString();
  }

  /** As Go programs list them. */
  private static void flags(Command command, StringBuilder text) {
    for (Flag flag : Flag.ALL) {
      if (!flag.help().isEmpty() && command.takes(flag)) {
        String value = flag.isSwitch() ? "" : "=" + flag.value();
        text.append("  ").append(flag).append(value).append("\n      ");
        text.append(flag.help()).append('\n');
      }
    }
  }

  /** The closest known word, after a complaint about another. */
  static String didYouMean(String word, List<String> known, String dashes) {
    return Words.nearest(word, known)
        .map(near -> ": did you mean " + dashes + near + "?")
        .orElse("");
  }
}
