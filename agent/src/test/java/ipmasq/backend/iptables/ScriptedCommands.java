package ipmasq.backend.iptables;

import ipmasq.iptables.Commands;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;

/** Plays programs from a script, and remembers what they were asked. */
final class ScriptedCommands implements Commands {
  private record Scene(CommandResult result, String output) {}

  private final Deque<Scene> scenes = new ArrayDeque<>();
  final List<String> asked = new ArrayList<>();
  final List<String> inputs = new ArrayList<>();

  ScriptedCommands prints(String output) {
    scenes.add(new Scene(new CommandResult.Ended(0, ""), output));
    return this;
  }

  ScriptedCommands fails(int status, String errors) {
    scenes.add(new Scene(new CommandResult.Ended(status, errors), ""));
    return this;
  }

  ScriptedCommands ends(CommandResult result) {
    scenes.add(new Scene(result, ""));
    return this;
  }

  @Override
  public CommandResult run(List<String> command, String input, Consumer<String> lines) {
    asked.add(String.join(" ", command));
    inputs.add(input);
    Scene scene = scenes.remove();
    scene.output.lines().forEach(lines);
    return scene.result;
  }
}
