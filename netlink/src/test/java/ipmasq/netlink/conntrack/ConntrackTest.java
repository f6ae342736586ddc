package ipmasq.netlink.conntrack;

import static ipmasq.netlink.OwnNamespace.output;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.netlink.Answer;
import ipmasq.netlink.Data;
import ipmasq.netlink.Events;
import ipmasq.netlink.KernelTest;
import ipmasq.netlink.NetlinkSocket;
import ipmasq.netlink.OwnNamespace;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Flows of packets to ourselves, with {@code conntrack} as the witness. */
@KernelTest
class ConntrackTest {
  private static final byte[] ONE = {10, 0, 0, 1};

  private static void send(String from, int port, String to) throws Exception {
    try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress(from, port))) {
      socket.send(new DatagramPacket(new byte[1], 1, InetAddress.getByName(to), 4000));
    }
  }

  private static List<Flow> flows(Conntrack conntrack, int family) {
    List<Flow> flows = new ArrayList<>();
    assertEquals(Optional.empty(), conntrack.flows(family, flows::add));
    return flows;
  }

  @Test
  void flowsAreSeenAndForgotten() throws Exception {
    OwnNamespace.run(
        () -> {
          output("ip", "link", "set", "lo", "up");
          output("ip", "address", "add", "192.0.2.1/24", "dev", "lo");
          output(
              "nft",
              "table ip nat { chain post { type nat hook postrouting priority 100;"
                  + " ip daddr 127.0.0.2 snat to 192.0.2.1; }; };"
                  + " table ip6 any { chain out { type filter hook output priority 0;"
                  + " ct state new accept; }; }");
          try (Conntrack conntrack = Conntrack.open()) {
            send("127.0.0.1", 5001, "127.0.0.2");
            send("127.0.0.1", 5002, "127.0.0.3");
            send("::1", 5003, "::1");
            List<Flow> flows = flows(conntrack, 2);
            assertEquals(2, flows.size());
            Flow translated =
                flows.stream().filter(Flow::isSourceTranslated).findFirst().orElseThrow();
            assertEquals(
                "127.0.0.1:5001 > 127.0.0.2:4000, answered 127.0.0.2:4000 > 192.0.2.1:5001",
                FlowText.of(translated));
            assertEquals(17, translated.original().protocol());
            assertEquals(
                "0:0:0:0:0:0:0:1:5003 > 0:0:0:0:0:0:0:1:4000",
                FlowText.of(flows(conntrack, 10).getFirst().original()));

            assertFalse(translated.isDestinationTranslated());
            assertFalse(translated.hasSeenReply());
            assertTrue(
                conntrack.find(translated.original())
                        instanceof Answer.Given<Optional<Flow>>(var found)
                    && FlowText.of(found.orElseThrow()).equals(FlowText.of(translated)));
            assertEquals(
                new Answer.Given<>(Optional.empty()),
                conntrack.find(new Tuple(17, Data.of(ONE), Data.of(ONE), 1, 2)));

            assertEquals(new Answer.Given<>(true), conntrack.delete(translated));
            assertEquals(new Answer.Given<>(false), conntrack.delete(translated));
            String witness = output("conntrack", "-L");
            assertTrue(witness.contains("sport=5002"));
            assertFalse(witness.contains("sport=5001"));
            assertEquals(2, flows(conntrack, 0).size());
          }
        });
  }

  @Test
  void anAnswerAndAServiceAreInTheStatus() throws Exception {
    OwnNamespace.run(
        () -> {
          output("ip", "link", "set", "lo", "up");
          output(
              "nft",
              "table ip nat { chain out { type nat hook output priority -100;"
                  + " ip daddr 127.0.0.9 dnat to 127.0.0.2; };"
                  + " chain post { type filter hook postrouting priority 0;"
                  + " ct mark set 0x4000; }; }");
          try (Conntrack conntrack = Conntrack.open();
              DatagramSocket server =
                  new DatagramSocket(new InetSocketAddress("127.0.0.2", 4000))) {
            send("127.0.0.1", 5001, "127.0.0.9");
            DatagramPacket got = new DatagramPacket(new byte[1], 1);
            server.receive(got);
            server.send(got);
            Flow flow = flows(conntrack, 2).getFirst();
            assertTrue(flow.hasSeenReply());
            assertTrue(flow.isDestinationTranslated());
            assertFalse(flow.isSourceTranslated());
            assertEquals(
                "127.0.0.1:5001 > 127.0.0.9:4000, answered 127.0.0.2:4000 > 127.0.0.1:5001",
                FlowText.of(flow));
            Answer<Conntrack.Stats> answer = conntrack.stats();
            assertTrue(
                answer instanceof Answer.Given<Conntrack.Stats>(var stats)
                    && stats.entries() == 1
                    && stats.maximum() > 1
                    && stats.insertFailed() + stats.drop() == 0,
                answer.toString());
          }
        });
  }

  @Test
  void flowsAreSeenWhenTheyBegin() throws Exception {
    OwnNamespace.run(
        () -> {
          output("ip", "link", "set", "lo", "up");
          output("ip", "address", "add", "192.0.2.1/24", "dev", "lo");
          output(
              "nft",
              "table ip nat { chain post { type nat hook postrouting priority 100;"
                  + " ip daddr 127.0.0.2 snat to 192.0.2.1; }; }");
          List<Flow> seen = new ArrayList<>();
          send("127.0.0.1", 5000, "127.0.0.2"); // before anybody listens
          try (Events<Flow> flows = Conntrack.began(100)) {
            send("127.0.0.1", 5001, "127.0.0.2");
            send("127.0.0.1", 5001, "127.0.0.2"); // the same flow
            send("127.0.0.1", 5002, "127.0.0.3");
            send("127.0.0.1", 5003, "127.0.0.3");
            assertEquals(
                new Answer.Given<>(new NetlinkSocket.Received(2, false)),
                flows.receive(Duration.ofMinutes(1), 2, seen::add));
            assertEquals(
                new Answer.Given<>(new NetlinkSocket.Received(1, false)),
                flows.receive(Duration.ofMillis(10), 5, seen::add));
          }
          assertEquals(
              List.of(
                  "127.0.0.1:5001 > 127.0.0.2:4000, answered 127.0.0.2:4000 > 192.0.2.1:5001",
                  "127.0.0.1:5002 > 127.0.0.3:4000, answered 127.0.0.3:4000 > 127.0.0.1:5002",
                  "127.0.0.1:5003 > 127.0.0.3:4000, answered 127.0.0.3:4000 > 127.0.0.1:5003"),
              seen.stream().map(FlowText::of).toList());
          assertTrue(seen.stream().allMatch(Flow::isDecidedByNatRules));
        });
  }

  @Test
  void thoseThatWereLostAreMentioned() throws Exception {
    OwnNamespace.run(
        () -> {
          output("ip", "link", "set", "lo", "up");
          output(
              "nft",
              "table ip any { chain out { type filter hook output priority 0;"
                  + " ct state new accept; }; }");
          try (Events<Flow> flows = Conntrack.began(1)) {
            for (int port = 10_000; port < 10_500; port++) {
              send("127.0.0.1", port, "127.0.0.2");
            }
            Answer<NetlinkSocket.Received> answer =
                flows.receive(
                    Duration.ofMillis(50), 1_000, flow -> assertFalse(flow.isDecidedByNatRules()));
            assertTrue(
                answer instanceof Answer.Given<NetlinkSocket.Received>(var got)
                    && got.lost()
                    && got.messages() > 0
                    && got.messages() < 500,
                answer.toString());
          }
        });
  }
}
