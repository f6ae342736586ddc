package ipmasq.netlink;

/** What came of asking the kernel for something. */
public sealed interface Answer<T> {
  /** It answered. */
  record Given<T>(T value) implements Answer<T> {}

  /** It did not, or not with what was asked for. */
  record Failed<T>(NetlinkFailure failure) implements Answer<T> {}
}
