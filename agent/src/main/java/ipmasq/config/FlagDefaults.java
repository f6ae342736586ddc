package ipmasq.config;

import ipmasq.config.Config.BackendChoice;
import java.util.HashSet;
import java.util.Set;

/**
 * What the files overlay: the defaults as the flags have changed them.
 *
 * @param fixed keys that a flag decides, whatever the files say
 * @param auto what {@code backend: auto} stands for on the node; itself where that is unknown
 */
public record FlagDefaults(Config config, Set<Key<?>> fixed, BackendChoice auto) {
  public FlagDefaults {
    fixed = Set.copyOf(fixed);
  }

  /** No flags, and a node of which nothing is known. */
  public static FlagDefaults none() {
    return new FlagDefaults(Config.defaults(), Set.of(), BackendChoice.AUTO);
  }

  /** The same on a node that is known. */
  public FlagDefaults on(BackendChoice node) {
    return new FlagDefaults(config, fixed, node);
  }

  /** The same with one more default. */
  public <T> FlagDefaults with(Key<T> key, T value, boolean isFixed) {
    Set<Key<?>> keys = new HashSet<>(fixed);
    if (isFixed) {
      keys.add(key);
    }
    return new FlagDefaults(config.with(key, value), keys, auto);
  }

  /** The backend that a config means. */
  BackendChoice backend(Config meant) {
    return meant.backend() == BackendChoice.AUTO ? auto : meant.backend();
  }
}
