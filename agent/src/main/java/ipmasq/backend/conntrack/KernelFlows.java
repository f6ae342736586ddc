package ipmasq.backend.conntrack;

import ipmasq.backend.Failure;
import ipmasq.backend.Flows;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.netlink.Answer;
import ipmasq.netlink.NetlinkFailure;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.conntrack.Conntrack;
import ipmasq.netlink.conntrack.Flow;
import ipmasq.policy.Packet;
import ipmasq.policy.Revision;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The flows that the kernel tracks. Each call opens its own socket, because policies seldom change.
 */
public final class KernelFlows implements Flows {
  private static final int IPPROTO_UDP = 17;
  private static final int NFPROTO_IPV4 = 2;
  private static final int NFPROTO_IPV6 = 10;

  /** Nothing is asked yet. */
  public KernelFlows() {}

  @Override
  public Forgotten forget(Family family, Revision revision, boolean udpOnly, Set<Ip> node) {
    try (Conntrack conntrack = Conntrack.open()) {
      List<Flow> concerned = new ArrayList<>();
      Optional<NetlinkFailure> failure =
          conntrack.flows(
              number(family),
              flow -> {
                if ((!udpOnly || flow.original().protocol() == IPPROTO_UDP)
                    && isConcerned(flow, revision, node)) {
                  concerned.add(flow);
                }
              });
      return failure.isPresent() ? failed(failure.get()) : forget(conntrack, concerned);
    } catch (NetlinkUnavailable unavailable) {
      return new Forgotten.Failed(
          new Failure(
              "conntrack: " + unavailable.getMessage(),
              "flows under way keep their source address"));
    }
  }

  private static int number(Family family) {
    return switch (family) {
      case IPV4 -> NFPROTO_IPV4;
      case IPV6 -> NFPROTO_IPV6;
    };
  }

  static boolean isConcerned(Flow flow, Revision revision, Set<Ip> node) {
    Ip source = Ip.ofBytes(flow.original().source().bytes());
    Ip destination = Ip.ofBytes(flow.original().destination().bytes());
    boolean toService = !flow.original().destination().equals(flow.reply().source());
    if (toService || node.contains(destination)) {
      return false;
    }
    Optional<Ip> given =
        Optional.of(Ip.ofBytes(flow.reply().destination().bytes()))
            .filter(ip -> flow.isSourceTranslated() && !ip.equals(source));
    return revision.concerns(Packet.to(destination).from(source), given);
  }

  private static Forgotten forget(Conntrack conntrack, List<Flow> flows) {
    int forgotten = 0;
    for (Flow flow : flows) {
      switch (conntrack.delete(flow)) {
        case Answer.Given<Boolean>(var wasThere) -> forgotten += wasThere ? 1 : 0;
        case Answer.Failed<Boolean>(var failure) -> {
          return failed(failure);
        }
      }
    }
    return new Forgotten.Some(forgotten);
  }

  private static Forgotten failed(NetlinkFailure failure) {
    return new Forgotten.Failed(
        new Failure("conntrack: " + failure, "flows under way keep their source address"));
  }
}
