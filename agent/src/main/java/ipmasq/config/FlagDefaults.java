package ipmasq.config;

import ipmasq.config.Config.BackendChoice;
import java.util.HashSet;
import java.util.Set;

/**
 * The defaults as changed by the flags; the files overlay them.
 *
 * @param fixed keys that a flag decides, whatever the files say
 * @param auto what {@code backend: auto} stands for on the node; itself if unknown
 */
public record FlagDefaults(Config config, Set<Key<?>> fixed, BackendChoice auto) {
  public FlagDefaults {
    fixed = Set.copyOf(fixed);
  }

  /** No flags, and an unknown node. */
  public static FlagDefaults none() {
    return new FlagDefaults(Config.defaults(), Set.of(), BackendChoice.AUTO);
  }

  /** The same for a known node. */
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
