package ipmasq.config;

import java.util.OptionalInt;
import java.util.Set;

/**
 * What the files overlay: the defaults as the flags have changed them.
 *
 * @param fixed keys that a flag decides, whatever the files say
 * @param cidrLimit how many ranges a list may have where no file says; empty: any number
 */
public record Base(Config config, Set<Key<?>> fixed, OptionalInt cidrLimit) {
  public Base {
    fixed = Set.copyOf(fixed);
  }

  /** No flags. */
  public static Base defaults() {
    return new Base(Config.defaults(), Set.of(), OptionalInt.of(Config.DEFAULT_CIDR_LIMIT));
  }
}
