package ipmasq.netlink;

import java.util.Optional;
import java.util.function.Supplier;

/** What came of asking the kernel for something. */
public sealed interface Answer<T> {
  /** It answered. */
  record Given<T>(T value) implements Answer<T> {}

  /** It did not, or not with what was asked for. */
  record Failed<T>(NetlinkFailure failure) implements Answer<T> {}

  /** The failure, or without one the value. */
  static <T> Answer<T> of(Optional<NetlinkFailure> failure, Supplier<T> value) {
    return failure.isPresent() ? new Failed<>(failure.get()) : new Given<>(value.get());
  }
}
