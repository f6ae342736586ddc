package ipmasq.netlink;

/** Why the kernel did not answer with what was asked for. */
public sealed interface NetlinkFailure {
  /** The kernel said no, in its own words. */
  record Refused(Refusal refusal) implements NetlinkFailure {
    @Override
    public String toString() {
      return refusal.toString();
    }
  }

  /** What was listed changed meanwhile, so the list may be incomplete: ask again. */
  record Interrupted() implements NetlinkFailure {
    @Override
    public String toString() {
      return "changed while it was listed";
    }
  }

  /** Answers were lost because they came faster than they were read. What they said is unknown. */
  record Overrun() implements NetlinkFailure {
    @Override
    public String toString() {
      return "answers were lost: " + Errno.ENOBUFS;
    }
  }

  /** No answer came in time. Whether the request was carried out is unknown. */
  record TimedOut() implements NetlinkFailure {
    @Override
    public String toString() {
      return "no answer from the kernel in time";
    }
  }

  /** An answer came that makes no sense. */
  record Malformed(String what) implements NetlinkFailure {
    @Override
    public String toString() {
      return "an answer that makes no sense: " + what;
    }
  }
}
