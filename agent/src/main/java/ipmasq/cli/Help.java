package ipmasq.cli;

import ipmasq.config.Nearest;
import java.io.PrintStream;
import java.util.List;

/** What the program can do, on a page. */
final class Help {
  private static final String COMMANDS =
      """
      Keeps a node's masquerading as its config file says.

      Usage: ip-masq-agent [COMMAND] [FLAGS]

      Commands:
        run                  enforce the config until stopped (the default)
        check FILE…          say what is wrong with config files or ConfigMaps, - for stdin;
                             exit 0 good, 1 bad
        plan                 show what would change; exit 0 nothing, 2 something; --config - is stdin
        apply                make one pass and exit
        status               say how it stands: from the running agent where it has --listen, else
                             from the file and the rules; exit 0 all is well, 1 not
        explain ADDRESS…     say what happens to packets to these addresses, and why; from the
                             rules in the kernel or, with --config, from that file
        cleanup              remove every rule of this agent, of this or an earlier version
        version              print the version

      Flags:
      """;
  private static final List<String> NAMES =
      List.of("run", "check", "plan", "apply", "status", "explain", "cleanup", "version", "help");
  private static final int COLUMN = 34;

  private Help() {}

  static int print(PrintStream out) {
    StringBuilder text = new StringBuilder(COMMANDS);
    for (Flag flag : Flag.ALL) {
      if (flag.value() != null) {
        String left = "  --" + flag.name() + (flag.value().isEmpty() ? "" : "=" + flag.value());
        text.append(left).repeat(' ', Math.max(1, COLUMN - left.length()));
        text.append(flag.help()).append('\n');
      }
    }
    text.append("\nThe logging flags of klog are accepted too; all but --v do nothing.\n");
    text.append("Exit codes: 0 done, 1 it failed, 2 wrong usage (plan: something would change).\n");
    out.print(text);
    return Main.OK;
  }

  static String suggestion(String command) {
    return Nearest.to(command, NAMES).map(near -> ": did you mean " + near + "?").orElse("");
  }
}
