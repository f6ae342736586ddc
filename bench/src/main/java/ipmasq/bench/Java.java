package ipmasq.bench;

import ipmasq.testkit.AgentProcess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The built agent without its launcher, so that options of Java can be added to its own. */
final class Java {
  private Java() {}

  /** The folder that holds the built agent. */
  static Path home() {
    return AgentProcess.builtAgent().resolve("../..").normalize();
  }

  /** All but the agent's own arguments. */
  static List<String> command(String... options) {
    Path home = home();
    List<String> command = new ArrayList<>();
    command.add(home.resolve("runtime/bin/java").toString());
    command.add("-XX:AOTCache=" + home.resolve("agent.aot"));
    command.add("@" + home.resolve("java.args"));
    command.addAll(Arrays.asList(options));
    command.addAll(List.of("-m", "ipmasq.agent/ipmasq.cli.Main"));
    return command;
  }
}
