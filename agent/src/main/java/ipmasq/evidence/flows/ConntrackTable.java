package ipmasq.evidence.flows;

import ipmasq.netlink.NetlinkFailure;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.conntrack.Conntrack;
import ipmasq.netlink.conntrack.Flow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

/** The connection table, read one flow after another, so that memory does not grow with it. */
public final class ConntrackTable {
  private static final Path THIS_THREAD = Path.of("/proc/thread-self/schedstat");
  private static final int ALL_FAMILIES = 0;

  private ConntrackTable() {}

  /** What came of reading. */
  public sealed interface Reading {
    /**
     * @param flows how many the table has
     * @param took of CPU
     */
    record Read(int flows, Duration took) implements Reading {}

    /**
     * @param why a phrase
     */
    record Failed(String why) implements Reading {}
  }

  public static Reading read(Consumer<Flow> each) {
    long start = cpu();
    int[] flows = {0};
    try (Conntrack conntrack = Conntrack.open()) {
      Optional<NetlinkFailure> failure =
          conntrack.flows(
              ALL_FAMILIES,
              flow -> {
                flows[0]++;
                each.accept(flow);
              });
      return failure.isPresent()
          ? new Reading.Failed("conntrack: " + failure.get())
          : new Reading.Read(flows[0], Duration.ofNanos(cpu() - start));
    } catch (NetlinkUnavailable refused) {
      return new Reading.Failed("conntrack: " + refused.getMessage());
    }
  }

  /** The CPU time of this thread in nanoseconds; 0: unknown. */
  private static long cpu() {
    try {
      return Long.parseLong(Files.readString(THIS_THREAD).split(" ")[0]);
    } catch (IOException | NumberFormatException unknown) {
      return 0;
    }
  }
}
