package ipmasq.sync;

import ipmasq.backend.Failure;
import ipmasq.config.Config;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A node that has one target, or another once rules could not be put in force for good. */
final class FakeTargets implements Targets {
  private final Supplier<Target> target;
  private boolean gaveUp;
  @Nullable Target otherwise;

  FakeTargets(Supplier<Target> target) {
    this.target = target;
  }

  @Override
  public Node look() {
    return new Node(false, false, "", false);
  }

  @Override
  public Target target(Node node, Config config) {
    Target second = otherwise;
    return gaveUp && second != null ? second : target.get();
  }

  @Override
  public boolean ruledOut(Target failing, Failure why) {
    boolean first = why.lasting() && !gaveUp;
    gaveUp |= why.lasting();
    return first;
  }
}
