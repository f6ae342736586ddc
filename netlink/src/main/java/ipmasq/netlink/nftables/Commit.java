package ipmasq.netlink.nftables;

import ipmasq.netlink.Errno;
import ipmasq.netlink.NetlinkFailure;
import ipmasq.netlink.NetlinkFailure.Refused;
import java.util.List;

/** The outcome of a transaction, which applies as a whole or not at all. */
public sealed interface Commit {
  /** All of it is in force. */
  record Committed() implements Commit {}

  /** Nothing changed, for these reasons: at least one, in the order of the batch. */
  record Rejected(List<Complaint> complaints) implements Commit {
    public Rejected {
      complaints = List.copyOf(complaints);
    }

    /** The first reason: others often follow from it. */
    public Errno errno() {
      return complaints.getFirst().refusal().errno();
    }

    @Override
    public String toString() {
      int more = complaints.size() - 1;
      return complaints.getFirst() + (more == 0 ? "" : ", and " + more + " more");
    }
  }

  /** The kernel's answer did not come or was lost: read the ruleset to learn what is in force. */
  record Unclear(NetlinkFailure failure) implements Commit {}

  /**
   * The refusal of one step.
   *
   * @param step what was attempted, such as {@code add chain inet filter input}
   */
  record Complaint(String step, Refused refusal) {
    @Override
    public String toString() {
      return step + ": " + refusal;
    }
  }
}
