package ipmasq.netlink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.netlink.NetlinkFailure.Refused;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The socket against the kernel, with the smallest nf_tables requests. */
@KernelTest
class NetlinkSocketTest {
  private static final Duration LIMIT = Duration.ofSeconds(5);
  private static final int GET_GENERATION = 10 << 8 | 16;
  private static final int GET_TABLE = 10 << 8 | 1;
  private static final int DELETE_TABLE = 10 << 8 | 2;
  private static final int AF_NETLINK = 16;
  private static final int SOCK_RAW_CLOEXEC = 3 | 0x80000;

  @Test
  void knowsItsPort() throws Exception {
    try (NetlinkSocket one = NetlinkSocket.open(NetlinkSocket.NETLINK_NETFILTER, LIMIT);
        NetlinkSocket other = NetlinkSocket.open(NetlinkSocket.NETLINK_NETFILTER, LIMIT)) {
      assertNotEquals(0, one.port());
      assertNotEquals(one.port(), other.port());
    }
  }

  @Test
  void onceClosedItAsksNothing() throws Exception {
    NetlinkSocket socket = NetlinkSocket.open(NetlinkSocket.NETLINK_NETFILTER, LIMIT);
    socket.close();
    socket.close();
    MessageWriter request = new MessageWriter().begin(GET_GENERATION, 1).netfilter(0, 0);
    assertThrows(IllegalStateException.class, () -> socket.ask(request, _ -> {}));
  }

  @Test
  void aProtocolThatIsNotThere() {
    NetlinkUnavailable unavailable =
        assertThrows(NetlinkUnavailable.class, () -> NetlinkSocket.open(31, LIMIT));
    assertEquals(Errno.EPROTONOSUPPORT, unavailable.errno());
    assertEquals(
        "netlink socket: Protocol not supported (EPROTONOSUPPORT)", unavailable.getMessage());
  }

  @Test
  void aMessageThatAnswers() throws Exception {
    OwnNamespace.run(
        () -> {
          try (NetlinkSocket socket = NetlinkSocket.open(NetlinkSocket.NETLINK_NETFILTER, LIMIT)) {
            int[] messages = {0};
            MessageWriter request = new MessageWriter().begin(GET_GENERATION, 1).netfilter(0, 0);
            assertEquals(Optional.empty(), socket.ask(request, _ -> messages[0]++));
            assertEquals(Optional.empty(), socket.ask(request, _ -> messages[0]++));
            assertEquals(2, messages[0]);
          }
        });
  }

  @Test
  void anErrorNamesItsReason() throws Exception {
    OwnNamespace.run(
        () -> {
          try (NetlinkSocket socket = NetlinkSocket.open(NetlinkSocket.NETLINK_NETFILTER, LIMIT)) {
            MessageWriter request =
                new MessageWriter().begin(GET_TABLE, 1).netfilter(1, 0).string(1, "absent");
            NetlinkFailure failure = socket.ask(request, _ -> {}).orElseThrow();
            assertEquals(new Refused(0, Errno.ENOENT, ""), failure);
          }
        });
  }

  @Test
  void eachRefusalSaysWhichMessage() throws Exception {
    OwnNamespace.run(
        () -> {
          try (NetlinkSocket socket = NetlinkSocket.open(NetlinkSocket.NETLINK_NETFILTER, LIMIT)) {
            MessageWriter writer = new MessageWriter();
            List<byte[]> packet = new ArrayList<>();
            packet.add(writer.begin(16, 1).netfilter(0, 10).message());
            for (int i = 0; i < 500; i++) {
              packet.add(
                  writer.begin(DELETE_TABLE, 1).netfilter(1, 0).string(1, "absent" + i).message());
            }
            packet.add(writer.begin(17, 1).netfilter(0, 10).message());
            if (!(socket.send(packet) instanceof Answer.Given<List<Refused>>(var refusals))) {
              throw new AssertionError("no answer");
            }
            assertEquals(500, refusals.size());
            assertEquals(new Refused(1, Errno.ENOENT, ""), refusals.getFirst());
            assertEquals(500, refusals.getLast().message());
          }
        });
  }

  @Test
  void aPacketLargerThanTheDefaultBuffer() throws Exception {
    OwnNamespace.run(
        () -> {
          try (NetlinkSocket socket = NetlinkSocket.open(NetlinkSocket.NETLINK_NETFILTER, LIMIT)) {
            MessageWriter writer = new MessageWriter();
            List<byte[]> packet = new ArrayList<>();
            packet.add(writer.begin(16, 1).netfilter(0, 10).message());
            for (int i = 0; i < 100; i++) {
              packet.add(
                  writer
                      .begin(DELETE_TABLE, 1)
                      .netfilter(1, 0)
                      .bytes(99, new byte[60_000])
                      .message());
            }
            packet.add(writer.begin(17, 1).netfilter(0, 10).message());
            assertTrue(packet.stream().mapToInt(message -> message.length).sum() > 6_000_000);
            assertInstanceOf(Answer.Given.class, socket.send(packet));
          }
        });
  }

  @Test
  void anAnswerThatNeverComes() throws Exception {
    OwnNamespace.run(
        () -> {
          try (NetlinkSocket socket =
              NetlinkSocket.open(NetlinkSocket.NETLINK_NETFILTER, Duration.ofMillis(20))) {
            MessageWriter noop = new MessageWriter().begin(1, 1);
            assertEquals(Optional.of(new NetlinkFailure.TimedOut()), socket.ask(noop, _ -> {}));
          }
        });
  }

  @Test
  void aHandlerThatFailsLeavesTheSocketUsable() throws Exception {
    OwnNamespace.run(
        () -> {
          OwnNamespace.output("nft", "add table one; add table two");
          try (NetlinkSocket socket = NetlinkSocket.open(NetlinkSocket.NETLINK_NETFILTER, LIMIT)) {
            MessageWriter request = new MessageWriter().begin(GET_TABLE, 1).netfilter(0, 0);
            NetlinkFailure malformed =
                socket
                    .list(
                        request,
                        _ -> {
                          throw new MalformedMessage("so");
                        })
                    .orElseThrow();
            assertEquals(new NetlinkFailure.Malformed("so"), malformed);
            assertThrows(
                IllegalStateException.class,
                () ->
                    socket.list(
                        request,
                        _ -> {
                          throw new IllegalStateException();
                        }));
            int[] tables = {0};
            assertEquals(Optional.empty(), socket.list(request, _ -> tables[0]++));
            assertEquals(2, tables[0]);
          }
        });
  }

  @Test
  void hearsNobodyButTheKernel() throws Exception {
    try (NetlinkSocket socket = NetlinkSocket.open(NetlinkSocket.NETLINK_NETFILTER, LIMIT);
        Arena arena = Arena.ofConfined()) {
      MemorySegment to = arena.allocate(12, 4);
      to.asByteBuffer()
          .order(ByteOrder.nativeOrder())
          .putShort(0, (short) AF_NETLINK)
          .putInt(4, socket.port());
      long stranger =
          Syscalls.call(
              Syscalls.SOCKET,
              AF_NETLINK,
              SOCK_RAW_CLOEXEC,
              NetlinkSocket.NETLINK_NETFILTER,
              0,
              0,
              0);
      try {
        MemorySegment message = arena.allocate(20, 8);
        long sent =
            Syscalls.call(Syscalls.SENDTO, stranger, message.address(), 20, 0, to.address(), 12);
        assertEquals(Errno.ECONNREFUSED, Errno.of(sent));
      } finally {
        Syscalls.call(Syscalls.CLOSE, stranger, 0, 0, 0, 0, 0);
      }
    }
  }

  @Test
  void aGenerationNamesWhoAsksNotWhoChanged() throws Exception {
    OwnNamespace.run(
        () -> {
          OwnNamespace.output("nft", "add table ip other");
          try (NetlinkSocket socket = NetlinkSocket.open(NetlinkSocket.NETLINK_NETFILTER, LIMIT)) {
            MessageWriter request = new MessageWriter().begin(GET_GENERATION, 1).netfilter(0, 0);
            String[] name = {""};
            socket.ask(request, message -> name[0] = message.attributes().string(3));
            // The kernel keeps fifteen bytes of a thread's name.
            assertEquals("own-namespace", name[0]);
          }
        });
  }
}
