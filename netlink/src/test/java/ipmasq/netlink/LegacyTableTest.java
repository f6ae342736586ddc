package ipmasq.netlink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import ipmasq.netlink.LegacyTable.Ip;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The rules of iptables-legacy, read while its own program changes them. */
@KernelTest
class LegacyTableTest {
  private static void iptables(Ip nat, String words) throws Exception {
    String program = nat == Ip.IPV4 ? "iptables-legacy" : "ip6tables-legacy";
    OwnNamespace.output(
        Stream.concat(Stream.of(program, "-w", "-t", "nat"), Arrays.stream(words.split(" ")))
            .toArray(String[]::new));
  }

  private static <T> T given(Answer<T> answer) {
    return switch (answer) {
      case Answer.Given<T>(var value) -> value;
      case Answer.Failed<T>(var why) -> throw new AssertionError(why.toString());
    };
  }

  private static LegacyTable nat(Ip ip) {
    return new LegacyTable(ip, "nat");
  }

  private static LegacyTable.Shape shape(Ip nat) {
    return given(nat(nat).shape());
  }

  private static long digest(Ip nat) {
    return given(nat(nat).digest(shape(nat)));
  }

  private static void fill(Ip nat) throws Exception {
    iptables(nat, "-N OURS");
    iptables(nat, "-N ZZ");
    iptables(nat, "-A POSTROUTING -m addrtype ! --dst-type LOCAL -m comment --comment x -j OURS");
    iptables(nat, "-A POSTROUTING -p tcp"); // only counts
    iptables(nat, "-A POSTROUTING -m limit --limit 3/sec -g ZZ");
    iptables(nat, "-A OURS -o eth0 -j RETURN");
    iptables(nat, "-A OURS -j MASQUERADE --random-fully");
  }

  @ParameterizedTest
  @EnumSource
  void whatConcernsPostroutingChangesTheDigest(Ip nat) throws Exception {
    OwnNamespace.run(
        () -> {
          fill(nat);
          long before = digest(nat);
          assertEquals(before, digest(nat));
          for (String[] change :
              new String[][] {
                {"-A OURS -p udp -j RETURN", "-D OURS 3"},
                {"-R OURS 1 -o eth1 -j RETURN", "-R OURS 1 -o eth0 -j RETURN"},
                {"-R OURS 1 -o eth0 -j ACCEPT", "-R OURS 1 -o eth0 -j RETURN"},
                {"-E OURS OTHERS", "-E OTHERS OURS"},
                {"-A ZZ -j ACCEPT", "-F ZZ"}
              }) {
            iptables(nat, change[0]);
            assertNotEquals(before, digest(nat), change[0]);
            iptables(nat, change[1]);
            assertEquals(before, digest(nat), change[1]);
          }
        });
  }

  @ParameterizedTest
  @EnumSource
  void otherRulesAndCountersDoNot(Ip nat) throws Exception {
    OwnNamespace.run(
        () -> {
          fill(nat);
          long before = digest(nat);
          LegacyTable.Shape shape = shape(nat);
          // Chains are sorted by name, so these move ours; and the shape tells.
          iptables(nat, "-N AAA");
          iptables(nat, "-A AAA -p tcp -j ACCEPT");
          iptables(nat, "-A PREROUTING -j AAA");
          assertNotEquals(shape, shape(nat));
          assertEquals(before, digest(nat));
          iptables(nat, "-I OURS 2 -c 5 500 -o eth0 -j RETURN");
          iptables(nat, "-D OURS 1");
          assertEquals(before, digest(nat));
        });
  }

  @Test
  void aShapeThatIsOutdatedIsRefused() throws Exception {
    OwnNamespace.run(
        () -> {
          fill(Ip.IPV4);
          LegacyTable.Shape before = shape(Ip.IPV4);
          iptables(Ip.IPV4, "-F ZZ");
          assertEquals(before, shape(Ip.IPV4));
          iptables(Ip.IPV4, "-F OURS");
          assertInstanceOf(Answer.Failed.class, nat(Ip.IPV4).digest(before));
        });
  }

  /** A table that makes no sense is not read to no end, nor beyond its end. */
  @Test
  void bytesThatAreNoTable() throws Exception {
    OwnNamespace.run(
        () -> {
          fill(Ip.IPV4);
          LegacyTable.Shape shape = shape(Ip.IPV4);
          byte[] table = entries(shape);
          Random random = new Random(4);
          for (int i = 0; i < 20_000; i++) {
            byte[] garbled = table.clone();
            for (int n = 0; n <= i % 5; n++) {
              garbled[random.nextInt(garbled.length)] = (byte) random.nextInt();
            }
            ByteBuffer some = ByteBuffer.wrap(garbled, 0, garbled.length - i % 3 * 50);
            try {
              nat(Ip.IPV4).digest(shape, some.slice().order(ByteOrder.nativeOrder()));
            } catch (MalformedMessage expected) {
              // so it says
            }
          }
        });
  }

  private static byte[] entries(LegacyTable.Shape shape) {
    return given(
        nat(Ip.IPV4)
            .entries(
                shape,
                all -> {
                  byte[] bytes = new byte[shape.size()];
                  all.get(0, bytes);
                  return bytes;
                }));
  }
}
