package ipmasq.policy;

import ipmasq.net.Cidr;

/** What happens to a packet, and why. */
public sealed interface Verdict {
  /** Whether the packet leaves with another source address. */
  default boolean translated() {
    return switch (this) {
      case Exempt _, LocalDestination _, OtherSource _, OtherInterface _ -> false;
      case Exception _, Outbound _ -> true;
    };
  }

  /** It stays on the node. */
  record LocalDestination() implements Verdict {}

  /** Its source is not one of the configured sources. */
  record OtherSource() implements Verdict {}

  /** Its output interface is not one of the configured interfaces. */
  record OtherInterface() implements Verdict {}

  /** Its destination lies in a range that is not masqueraded. */
  record Exempt(Cidr range) implements Verdict {}

  /** Its destination lies in a range that is masqueraded although a wider one is not. */
  record Exception(Cidr range, Translation translation) implements Verdict {}

  /** No range holds its destination. */
  record Outbound(Translation translation) implements Verdict {}
}
