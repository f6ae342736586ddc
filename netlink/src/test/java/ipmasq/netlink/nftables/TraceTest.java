package ipmasq.netlink.nftables;

import static ipmasq.netlink.OwnNamespace.output;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.netlink.Answer;
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

/** The kernel's own account of what rules did to a packet. */
@KernelTest
class TraceTest {
  @Test
  void aPacketsWayThroughChains() throws Exception {
    OwnNamespace.run(
        () -> {
          output("ip", "link", "set", "lo", "up");
          output(
              "nft",
              "table inet t {"
                  + " chain out { type filter hook output priority 0; policy accept;"
                  + "   ip daddr 127.0.0.2 meta mark set 7 meta nftrace set 1; };"
                  + " chain post { type nat hook postrouting priority 100;"
                  + "   udp dport 4000 jump other; tcp dport 4000 masquerade; };"
                  + " chain other { ip daddr 127.0.0.2 return; }; }");
          List<Trace> steps = new ArrayList<>();
          try (Events<Trace> traces = Trace.listen(100)) {
            send("127.0.0.3"); // not traced
            send("127.0.0.2");
            do {
              assertEquals(
                  new Answer.Given<>(new NetlinkSocket.Received(1, false)),
                  traces.receive(Duration.ofMinutes(1), 1, steps::add));
            } while (!steps.getLast().chain().equals("post")
                || steps.getLast().kind() != Trace.Kind.POLICY);
          }
          assertEquals(
              List.of(
                  "out RULE Optional[continue]",
                  "out POLICY Optional.empty",
                  "post RULE Optional[jump other]",
                  "other RULE Optional[return]",
                  "post POLICY Optional.empty"),
              steps.stream()
                  .filter(step -> step.rule() != 0 || step.kind() == Trace.Kind.POLICY)
                  .map(step -> step.chain() + " " + step.kind() + " " + step.verdict())
                  .toList());
          Trace first = steps.getFirst();
          assertEquals(TableFamily.INET, first.family());
          assertEquals("t", first.table());
          assertTrue(first.rule() > 0);
          assertEquals(2, first.nfproto());
          assertEquals(7, first.mark());
          assertEquals(Optional.of(Chain.Policy.ACCEPT), steps.getLast().policy());
          assertTrue(steps.stream().allMatch(step -> step.packet() == first.packet()));
          Trace.Headers headers =
              steps.stream()
                  .filter(step -> step.chain().equals("post"))
                  .findFirst()
                  .orElseThrow()
                  .headers()
                  .orElseThrow();
          byte[] ip = headers.network().bytes();
          assertEquals(17, ip[9]);
          assertEquals(2, ip[19]);
          assertTrue(headers.transport().toString().startsWith("0x13890fa0")); // 5001, 4000
          assertEquals(0, headers.in());
          assertEquals(1, headers.out());
        });
  }

  private static void send(String to) throws Exception {
    try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress("127.0.0.1", 5001))) {
      socket.send(new DatagramPacket(new byte[1], 1, InetAddress.getByName(to), 4000));
    }
  }
}
