package ipmasq.backend.nftables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import ipmasq.netlink.Errno;
import ipmasq.netlink.NetlinkFailure;
import ipmasq.netlink.nftables.Commit;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is asked of kernels that do not know all of it. */
class KernelFeaturesTest {
  private final List<KernelFeatures> asked = new ArrayList<>();

  /** A kernel that knows these, and says so in its way. */
  private KernelFeatures.FallbackCommit kernel(KernelFeatures known, Errno errno) {
    return features -> {
      asked.add(features);
      return known.has(features) ? new Commit.Committed() : refused(errno);
    };
  }

  private static Commit refused(Errno errno) {
    return new Commit.Rejected(
        List.of(
            new Commit.Complaint("add set inet t s", new NetlinkFailure.Refused(0, errno, ""))));
  }

  @Test
  void theNewestIsLeftOutFirstUntilTheKernelTakesIt() throws QueryFailed {
    for (Errno errno : List.of(Errno.EOPNOTSUPP, Errno.EINVAL)) {
      for (KernelFeatures known : KernelFeatures.values()) {
        assertEquals(
            new KernelFeatures.FallbackResult(known, new Commit.Committed()),
            KernelFeatures.OWNER.commitWithFallback(kernel(known, errno)));
      }
    }
  }

  @Test
  void aKernelThatKnowsAllIsAskedOnce() throws QueryFailed {
    KernelFeatures.OWNER.commitWithFallback(kernel(KernelFeatures.OWNER, Errno.EINVAL));
    assertEquals(List.of(KernelFeatures.OWNER), asked);
  }

  @Test
  void aRefusalThatNothingHelpsIsTheFirstOneAndTeachesNothing() throws QueryFailed {
    KernelFeatures.FallbackResult learned =
        KernelFeatures.OWNER.commitWithFallback(
            features ->
                refused(features.equals(KernelFeatures.OWNER) ? Errno.EOPNOTSUPP : Errno.EINVAL));
    assertEquals(KernelFeatures.OWNER, learned.features());
    Commit.Rejected refused = assertInstanceOf(Commit.Rejected.class, learned.commit());
    assertEquals(Errno.EOPNOTSUPP, refused.errno());
  }

  @Test
  void otherRefusalsAreNoReasonToLeaveSomethingOut() throws QueryFailed {
    for (Errno errno : List.of(Errno.EPERM, Errno.ENOMEM, Errno.EEXIST, Errno.EBUSY)) {
      assertEquals(
          new KernelFeatures.FallbackResult(KernelFeatures.OWNER, refused(errno)),
          KernelFeatures.OWNER.commitWithFallback(_ -> refused(errno)));
    }
  }
}
