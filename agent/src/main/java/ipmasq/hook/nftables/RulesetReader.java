package ipmasq.hook.nftables;

import ipmasq.netlink.Answer;
import ipmasq.netlink.NetlinkFailure;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.nftables.Nftables;
import ipmasq.netlink.nftables.Nftables.Head;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Queries to nf_tables that may stay unanswered. Used by one thread.
 *
 * <p>A truncated list leaves its socket unusable, so the next query opens another.
 */
final class RulesetReader implements AutoCloseable {
  private static final int ATTEMPTS = 3;

  private @Nullable Nftables open;

  private Nftables nftables() throws NetlinkUnavailable {
    Nftables nftables = open;
    if (nftables == null) {
      nftables = Nftables.open();
      open = nftables;
    }
    return nftables;
  }

  /** Empty if the kernel does not answer. A list that changed meanwhile is asked for again. */
  <T> Optional<T> ask(Function<Nftables, Answer<T>> question) {
    try {
      for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        switch (question.apply(nftables())) {
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

  /** The same for a list that may be truncated. */
  <T> Optional<Head<T>> head(Function<Nftables, Answer<Head<T>>> question) {
    Optional<Head<T>> head = ask(question);
    if (head.isPresent() && !head.get().whole()) {
      close();
    }
    return head;
  }

  @Override
  public void close() {
    if (open != null) {
      open.close();
      open = null;
    }
  }
}
