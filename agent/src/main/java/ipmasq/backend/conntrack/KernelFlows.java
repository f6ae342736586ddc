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
 * The flows that the kernel tracks. Each call opens its own sockets, because policies seldom
 * change: one reads the table, flow by flow, and the other deletes.
 */
public final class KernelFlows implements Flows {
  private static final int IPPROTO_UDP = 17;
  private static final int NFPROTO_IPV4 = 2;
  private static final int NFPROTO_IPV6 = 10;

  @Override
  public Forgotten forget(Family family, Revision revision, boolean udpOnly, Set<Ip> node) {
    List<NetlinkFailure> failures = new ArrayList<>();
    int[] forgotten = {0};
    try (Conntrack table = Conntrack.open();
        Conntrack deleting = Conntrack.open()) {
      table
          .flows(
              family == Family.IPV4 ? NFPROTO_IPV4 : NFPROTO_IPV6,
              flow -> {
                boolean covered = !udpOnly || flow.original().protocol() == IPPROTO_UDP;
                if (covered && failures.isEmpty() && isConcerned(flow, revision, node)) {
                  switch (deleting.delete(flow)) {
                    case Answer.Given<Boolean>(var wasThere) -> forgotten[0] += wasThere ? 1 : 0;
                    case Answer.Failed<Boolean>(var failure) -> failures.add(failure);
                  }
                }
              })
          .ifPresent(failures::add);
    } catch (NetlinkUnavailable unavailable) {
      return failed(String.valueOf(unavailable.getMessage()));
    }
    return failures.isEmpty()
        ? new Forgotten.Some(forgotten[0])
        : failed(failures.getFirst().toString());
  }

  private static Forgotten failed(String why) {
    return new Forgotten.Failed(
        new Failure("conntrack: " + why, "flows under way keep their source address"));
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
}
