package ipmasq.cni;

import static ipmasq.net.Family.IPV4;

import ipmasq.backend.Backend;
import ipmasq.backend.Outcome;
import ipmasq.policy.Policy;
import java.nio.file.Path;

/** A process that rewrites a file until it is killed, or for a minute. */
final class Rewriter {
  static final Policy FEW = Node.exempt(IPV4, "10.0.0.0/8");

  private Rewriter() {}

  /** So many that writing them takes a while. */
  static Policy many() {
    String[] ranges = new String[400];
    for (int i = 0; i < ranges.length; i++) {
      ranges[i] = "10." + i / 250 + "." + i % 250 + ".0/24";
    }
    return Node.exempt(IPV4, ranges);
  }

  public static void main(String[] args) {
    Backend backend = new CniBackend(Path.of(args[0]), false);
    Policy many = many();
    long end = System.nanoTime() + 60_000_000_000L;
    for (int i = 0; System.nanoTime() < end; i++) {
      Outcome outcome = Node.enforce(backend, i % 2 == 0 ? many : FEW);
      if (!outcome.equals(new Outcome.Applied())) {
        throw new IllegalStateException(outcome.toString());
      }
      if (i == 0) {
        System.out.println("writing");
      }
    }
  }
}
