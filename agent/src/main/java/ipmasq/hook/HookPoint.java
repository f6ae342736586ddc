package ipmasq.hook;

/**
 * Where on its way a packet meets a base chain, which tells whose packets pass and what is known.
 */
public enum HookPoint {
  /** On a device or a bridge: its interfaces may be ports of others. */
  LINK,
  /** Packets from elsewhere, before it is known how they leave. */
  PREROUTING,
  /** Packets from elsewhere. */
  FORWARD,
  /** The node's own packets. */
  OUTPUT,
  /** All packets that leave. */
  POSTROUTING;

  boolean passes(Flow flow) {
    return switch (this) {
      case PREROUTING, FORWARD -> flow.ofNode() != Truth.YES;
      case OUTPUT -> flow.ofNode() != Truth.NO;
      case LINK, POSTROUTING -> true;
    };
  }

  /** What a rule there can see of these packets. */
  Flow seen(Flow flow) {
    return switch (this) {
      case LINK -> flow.onAnyLink();
      case PREROUTING -> flow.beforeRouting();
      case FORWARD, OUTPUT, POSTROUTING -> flow;
    };
  }
}
