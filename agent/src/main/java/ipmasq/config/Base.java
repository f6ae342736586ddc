package ipmasq.config;

import ipmasq.config.Config.BackendChoice;
import java.util.Set;

/**
 * What the files overlay: the defaults as the flags have changed them.
 *
 * @param fixed keys that a flag decides, whatever the files say
 * @param auto what {@code backend: auto} stands for on the node; itself where that is unknown
 */
public record Base(Config config, Set<Key<?>> fixed, BackendChoice auto) {
  public Base {
    fixed = Set.copyOf(fixed);
  }

  /** No flags, and a node of which nothing is known. */
  public static Base defaults() {
    return new Base(Config.defaults(), Set.of(), BackendChoice.AUTO);
  }

  /** The backend that a config means. */
  BackendChoice backend(Config meant) {
    return meant.backend() == BackendChoice.AUTO ? auto : meant.backend();
  }
}
