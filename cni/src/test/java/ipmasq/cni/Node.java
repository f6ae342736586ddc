package ipmasq.cni;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import ipmasq.backend.Backend;
import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.backend.Outcome;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.plan.Observed;
import ipmasq.plan.Plan;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import ipmasq.policy.Translation;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;

/** A node with CNI configs in a directory, and what the agent does to them. */
record Node(Path directory) {
  static final List<String> CORPUS =
      List.of(
          "azure-vnet-bom.conflist",
          "calico-windows.conf",
          "cbr0-win-bridge.conf",
          "empty-list-old-mac.conf",
          "flannel-delegate.conf",
          "minified.conflist",
          "no-policy.conf",
          "sdnbridge-crlf.conf",
          "sdnbridge-dual-stack.conf",
          "win-overlay-tabs.conflist");

  static byte[] resource(String name) {
    try (InputStream in = Node.class.getResourceAsStream("/cni/" + name)) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Path put(String name, String text) throws IOException {
    return Files.write(directory.resolve(name), text.getBytes(UTF_8));
  }

  Path put(String resource) throws IOException {
    return Files.write(directory.resolve(resource), resource(resource));
  }

  String text(String name) throws IOException {
    return Files.readString(directory.resolve(name));
  }

  /** The names in the directory, sorted. */
  List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return List.copyOf(new TreeSet<>(files.map(file -> file.getFileName().toString()).toList()));
    }
  }

  /** A policy as a config without further wishes gives it. */
  static Policy exempt(Family family, String... ranges) {
    return new Policy(
        family,
        List.of(),
        List.of(),
        Stream.of(ranges).map(r -> new Destination(Cidr.of(r), Treatment.EXEMPT)).toList(),
        new Translation(Optional.empty(), List.of(), true));
  }

  static Observed observe(Backend backend, Family family) {
    return assertInstanceOf(Observation.Seen.class, backend.observe(family)).observed();
  }

  static Failure unseen(Backend backend, Family family) {
    return assertInstanceOf(Observation.Unseen.class, backend.observe(family)).failure();
  }

  static List<String> ranges(Backend backend, Family family) {
    return observe(backend, family).policy().orElseThrow().destinations().stream()
        .map(destination -> destination.range().toString())
        .toList();
  }

  /** What the loop does: look, plan, carry out. */
  static Plan plan(Backend backend, Policy policy) {
    Observed observed = observe(backend, policy.family());
    return Plan.toward(backend.normalize(policy, observed), observed);
  }

  static Outcome enforce(Backend backend, Policy policy) {
    return backend.apply(plan(backend, policy));
  }

  static Failure refused(Outcome outcome) {
    return assertInstanceOf(Outcome.Refused.class, outcome).failure();
  }

  static Outcome cleanup(Backend backend, Family family) {
    return backend.apply(Plan.removal(observe(backend, family)));
  }

  static List<String> changes(Plan plan) {
    return plan.changes().stream().map(Object::toString).toList();
  }
}
