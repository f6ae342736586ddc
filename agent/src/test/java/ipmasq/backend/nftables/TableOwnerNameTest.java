package ipmasq.backend.nftables;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.netlink.NetlinkSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class TableOwnerNameTest {
  private static final Path NAME = Path.of("/proc/self/comm");

  /** Every process chooses its own name. */
  @Test
  void aNameIsPrintedAsText() throws Exception {
    String before = Files.readString(NAME);
    try (NetlinkSocket socket =
        NetlinkSocket.open(NetlinkSocket.NETLINK_NETFILTER, Duration.ofSeconds(1))) {
      Files.writeString(NAME, "\u001b[31mevil");
      assertEquals(
          "process " + ProcessHandle.current().pid() + " (\\u001b[31mevil)",
          TableOwner.of(socket.port()));
    } finally {
      Files.writeString(NAME, before);
    }
  }
}
