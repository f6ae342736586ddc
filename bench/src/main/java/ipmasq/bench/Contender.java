package ipmasq.bench;

import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.ConfigVolume;
import ipmasq.testkit.Namespace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * An agent to be measured.
 *
 * @param flags those that make it what its name says
 * @param fixedPath whether it reads its config from the usual place and nowhere else
 */
record Contender(String name, Path program, List<String> flags, Kind kind, boolean fixedPath) {
  /** Where its rules are. */
  enum Kind {
    IPTABLES,
    NFTABLES
  }

  /** The place where agents look for their config; a peer gets a mount there that only it sees. */
  private static final Path USUAL = Path.of("/etc/config");

  private static final String MOUNT_AND_BECOME = "mount --bind \"$0\" " + USUAL + " && exec \"$@\"";

  static final Contender IPTABLES =
      new Contender("ours, iptables", AgentProcess.builtAgent(), List.of(), Kind.IPTABLES, false);

  static final Contender NFTABLES =
      new Contender(
          "ours, nftables",
          AgentProcess.builtAgent(),
          List.of("--backend=nftables"),
          Kind.NFTABLES,
          false);

  static Contender peer(Path program) {
    return new Contender("the peer", program.toAbsolutePath(), List.of(), Kind.IPTABLES, true);
  }

  Contender with(String newName, String... more) {
    List<String> all = new ArrayList<>(flags);
    all.addAll(Arrays.asList(more));
    return new Contender(newName, program, all, kind, fixedPath);
  }

  Contender as(Path other) {
    return new Contender(name, other, flags, kind, fixedPath);
  }

  AgentProcess start(Namespace node, ConfigVolume volume, Map<String, String> environment) {
    List<String> arguments = new ArrayList<>();
    Path executed = program;
    if (fixedPath) {
      if (!Files.isDirectory(USUAL)) {
        throw new IllegalStateException("a peer needs a directory " + USUAL + " to mount over");
      }
      executed = Path.of("unshare");
      arguments.addAll(List.of("--mount", "sh", "-c", MOUNT_AND_BECOME));
      arguments.add(volume.directory().toString());
      arguments.add(program.toString());
      arguments.addAll(flags);
    } else {
      arguments.addAll(flags);
      arguments.addAll(List.of("--config", volume.file().toString()));
    }
    return AgentProcess.start(executed, node, environment, arguments.toArray(String[]::new));
  }

  AgentProcess start(Namespace node, ConfigVolume volume) {
    return start(node, volume, Map.of());
  }
}
