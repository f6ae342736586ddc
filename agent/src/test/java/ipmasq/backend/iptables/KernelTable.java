package ipmasq.backend.iptables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import ipmasq.backend.Observation;
import ipmasq.backend.Outcome;
import ipmasq.iptables.ChildProcesses;
import ipmasq.iptables.LegacyTables;
import ipmasq.iptables.Programs;
import ipmasq.iptables.Variant;
import ipmasq.net.Family;
import ipmasq.plan.Observed;
import ipmasq.plan.Plan;
import ipmasq.policy.Policy;
import ipmasq.testkit.Namespace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The backend at work in a namespace in which {@code iptables} is the one of the two variants. */
final class KernelTable implements AutoCloseable {
  private final Namespace namespace;
  private final Set<String> kept = new LinkedHashSet<>();
  private final Programs programs;
  private final String variant;
  private final Path bin = Files.createTempDirectory("ipmq-");

  KernelTable(Namespace namespace, String variant) throws IOException {
    this.namespace = namespace;
    this.variant = variant;
    this.programs = new Programs(bin.toString());
    Programs machine = Programs.ofEnvironment();
    for (Family family : Family.values()) {
      for (String verb : List.of("", "-save", "-restore")) {
        Path real = machine.find(program(family) + verb).orElseThrow();
        Files.createSymbolicLink(bin.resolve(Variant.program(family, "") + verb), real);
      }
    }
  }

  @Override
  public void close() throws IOException {
    try (Stream<Path> links = Files.list(bin)) {
      for (Path link : links.toList()) {
        Files.delete(link);
      }
    }
    Files.delete(bin);
  }

  private String program(Family family) {
    return Variant.program(family, "-" + variant);
  }

  IptablesBackend backend(String chain) {
    ChainNames names = ChainNames.of(chain, kept, false);
    kept.add(chain);
    return backend(names);
  }

  /** As if this process had kept a chain of this name before. */
  void kept(String chain) {
    kept.add(chain);
  }

  IptablesBackend backend(ChainNames names) {
    ChildProcesses commands = new ChildProcesses(programs, Duration.ofSeconds(20));
    VariantProbe probe = new VariantProbe(programs, LegacyTables.ofKernel(), commands);
    return new IptablesBackend(names, probe, new NatTable());
  }

  static Observed observe(IptablesBackend backend, Family family) {
    return assertInstanceOf(Observation.Seen.class, backend.observe(family)).observed();
  }

  /** Puts a policy in force and sees that it is; returns what had to be changed for it. */
  Plan sync(Policy policy) {
    return sync("IP-MASQ-AGENT", policy);
  }

  Plan sync(String chain, Policy policy) {
    return namespace.call(
        () -> {
          IptablesBackend backend = backend(chain);
          Policy desired = backend.normalize(policy);
          Plan plan = Plan.toward(desired, observe(backend, policy.family()));
          assertEquals(new Outcome.Applied(), backend.apply(plan));
          assertEquals(
              List.of(), Plan.toward(desired, observe(backend, policy.family())).changes());
          assertEquals("iptables-" + variant, backend.name());
          return plan;
        });
  }

  /** Removes all that is ours and sees that nothing is left. */
  void remove(Family family) {
    namespace.call(
        () -> {
          IptablesBackend backend = backend("IP-MASQ-AGENT");
          Plan plan = Plan.removal(observe(backend, family));
          assertEquals(new Outcome.Applied(), backend.apply(plan));
          assertEquals(true, observe(backend, family).absent());
          return null;
        });
  }

  /** The rules, in the words of iptables-save, without dates. */
  String rules(Family family) {
    return lines(family, "-t");
  }

  /** The same with counters. */
  String counted(Family family) {
    return lines(family, "-ct");
  }

  private String lines(Family family, String option) {
    return namespace
        .run(program(family) + "-save", option, "nat")
        .ok()
        .lines()
        .filter(line -> line.contains("-A ") || line.startsWith(":") && line.contains(" - "))
        .map(line -> line + "\n")
        .collect(Collectors.joining());
  }

  /** What somebody else does to the table. */
  void others(Family family, String lines) {
    namespace
        .feed("*nat\n" + Tables.full(lines) + "COMMIT\n", program(family) + "-restore", "-n")
        .ok();
  }
}
