package ipmasq.evidence.neighbours;

import ipmasq.netlink.Answer;
import ipmasq.netlink.NetlinkFailure;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.ipset.Ipsets;
import ipmasq.netlink.nftables.Nftables;
import ipmasq.netlink.nftables.Nftables.Head;
import ipmasq.netlink.route.RouteQuery;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Questions to the kernel that may stay unanswered. Used by one thread, in its namespace. */
final class Kernel implements AutoCloseable {
  private static final int ATTEMPTS = 3;

  private @Nullable Nftables nftables;
  private @Nullable Ipsets ipsets;
  private @Nullable RouteQuery routes;

  /** Empty if the kernel does not answer. A list that changed meanwhile is asked for again. */
  <T> Optional<T> nftables(Function<Nftables, Answer<T>> question) {
    try {
      for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        nftables = nftables == null ? Nftables.open() : nftables;
        switch (question.apply(nftables)) {
          case Answer.Given<T>(var value) -> {
            return Optional.of(value);
          }
          case Answer.Failed<T>(NetlinkFailure.Interrupted()) -> {}
          case Answer.Failed<T> _ -> {
            return Optional.empty();
          }
        }
      }
    } catch (NetlinkUnavailable unavailable) {
      return Optional.empty();
    }
    return Optional.empty();
  }

  /** The same for a list that may be truncated, which leaves its socket unusable. */
  <T> Optional<Head<T>> head(Function<Nftables, Answer<Head<T>>> question) {
    Optional<Head<T>> head = nftables(question);
    if (head.isPresent() && !head.get().whole()) {
      close();
    }
    return head;
  }

  /** Asks only for sets that a rule uses: a question loads the kernel's module. */
  <T> Optional<T> ipsets(Function<Ipsets, Answer<T>> question) {
    try {
      ipsets = ipsets == null ? Ipsets.open() : ipsets;
      return question.apply(ipsets) instanceof Answer.Given<T>(var value)
          ? Optional.of(value)
          : Optional.empty();
    } catch (NetlinkUnavailable unavailable) {
      return Optional.empty();
    }
  }

  Optional<String> interfaceName(int index) {
    try {
      routes = routes == null ? RouteQuery.open() : routes;
      return routes.interfaceName(index);
    } catch (NetlinkUnavailable unavailable) {
      return Optional.empty();
    }
  }

  @Override
  public void close() {
    if (nftables != null) {
      nftables.close();
      nftables = null;
    }
    if (ipsets != null) {
      ipsets.close();
      ipsets = null;
    }
    if (routes != null) {
      routes.close();
      routes = null;
    }
  }
}
