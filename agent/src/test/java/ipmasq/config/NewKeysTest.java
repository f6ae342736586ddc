package ipmasq.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.config.Config.BackendChoice;
import ipmasq.config.Config.Conntrack;
import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The keys that the Go agents do not have. */
class NewKeysTest {
  @TempDir Path directory;
  private Reads reads;

  @BeforeEach
  void open() {
    reads = new Reads(directory);
  }

  @Test
  void allOfThem() {
    Config config =
        reads.config(
            """
            masqueradeCIDRs: [10.8.0.0/16, fd00:1::/32]
            sourceCIDRs: [10.244.0.0/16]
            outputInterface: [eth0, wlan+]
            outputAddress: [192.0.2.1-192.0.2.9, "2001:db8::1"]
            enableIPv6: true
            randomFully: false
            toPorts: 1024-29999,32768-65535
            masqChain: MINE
            backend: nftables
            conntrack: udp
            pin: true
            """);
    assertEquals(
        Config.defaults()
            .with(
                Key.MASQUERADE_CIDRS,
                Cidrs.copyOf(List.of(Cidr.of("10.8.0.0/16"), Cidr.of("fd00:1::/32"))))
            .with(Key.SOURCE_CIDRS, Cidrs.copyOf(List.of(Cidr.of("10.244.0.0/16"))))
            .with(Key.OUTPUT_INTERFACE, List.of("eth0", "wlan+"))
            .with(
                Key.OUTPUT_ADDRESS,
                List.of(
                    IpRange.parse("192.0.2.1-192.0.2.9").orElseThrow(),
                    IpRange.parse("2001:db8::1").orElseThrow()))
            .with(Key.ENABLE_IPV6, true)
            .with(Key.RANDOM_FULLY, false)
            .with(Key.TO_PORTS, List.of(new PortRange(1024, 29999), new PortRange(32768, 65535)))
            .with(Key.MASQ_CHAIN, "MINE")
            .with(Key.BACKEND, BackendChoice.NFTABLES)
            .with(Key.CONNTRACK, Conntrack.UDP)
            .with(Key.PIN, true),
        config);
  }

  @Test
  void oneAloneOrAList() {
    assertEquals(List.of("eth0"), reads.config("outputInterface: eth0\n").of(Key.OUTPUT_INTERFACE));
    assertEquals(List.of(), reads.config("outputInterface:\n").of(Key.OUTPUT_INTERFACE));
    assertEquals(
        List.of(IpRange.parse("192.0.2.1").orElseThrow()),
        reads.config("outputAddress: 192.0.2.1\n").of(Key.OUTPUT_ADDRESS));
    assertEquals(
        List.of(new PortRange(1, 2), new PortRange(5000, 5000)),
        reads.config("toPorts: [1-2, 5000]\n").of(Key.TO_PORTS));
    assertEquals(
        List.of(new PortRange(5000, 5000)), reads.config("toPorts: 5000\n").of(Key.TO_PORTS));
    assertEquals(List.of(), reads.config("toPorts: \"\"\n").of(Key.TO_PORTS));
  }

  @Test
  void theSamePrefixInBothLists() {
    String f = directory.resolve("f").toString();
    Reading.Rejected rejected =
        assertInstanceOf(
            Reading.Rejected.class,
            reads.reading(
                """
                nonMasqueradeCIDRs: [10.0.0.0/8, 11.0.0.0/8]
                masqueradeCIDRs:
                  - 11.0.0.0/8
                """));
    assertEquals(
        f
            + ":3:5: error: 11.0.0.0/8 is in masqueradeCIDRs and, at "
            + f
            + ":1:34, in nonMasqueradeCIDRs too (remove it from one of the two lists)",
        rejected.problems().getFirst().toString());
  }

  @Test
  void theSamePrefixAsTheDefaults() {
    assertEquals(
        """
        f:1:19: error: 10.0.0.0/8 is in masqueradeCIDRs and, by default, in nonMasqueradeCIDRs too (remove it from one of the two lists)
        f:1:31: error: 169.254.0.0/16 is in masqueradeCIDRs, but link-local is exempt (write "masqLinkLocal: true" instead)""",
        reads.problems("masqueradeCIDRs: [10.0.0.0/8, 169.254.0.0/16]\n"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "masqueradeCIDRs: [10.0.0.1/8]",
        "masqueradeCIDRs: [fd00::/8]",
        "sourceCIDRs: [\"fd00::/8\"]",
        "sourceCIDRs: 10.0.0.0/8",
        "sourceCIDRs: [~]",
        "outputInterface: a-name-of-16-byt",
        "outputInterface: [\"\"]",
        "outputInterface: eth0/1",
        "outputInterface: et+h",
        "outputInterface: [eth 0]",
        "outputInterface: -o",
        "outputInterface: {a: b}",
        "outputInterface: 5",
        "outputAddress: 10.0.0.0/8",
        "outputAddress: 10.0.0.9-10.0.0.1",
        "outputAddress: 10.0.0.1-fd00::1",
        "outputAddress: [10.0.0.1, 10.0.0.2]",
        "outputAddress: fd00::1",
        "outputAddress: eth0",
        "enableIPv6: \"true\"",
        "randomFully: 1",
        "toPorts: 0-5",
        "toPorts: 70000",
        "toPorts: [true]",
        "toPorts: 5-1",
        "toPorts: 1-2, 3-4",
        "toPorts: 1.5",
        "masqChain: POSTROUTING",
        "masqChain: \"\"",
        "masqChain: MY CHAIN",
        "masqChain: [A]",
        "masqChain: 5",
        "backend: ebtables",
        "backend: IPTABLES",
        "backend: [auto]",
        "conntrack: yes",
        "pin: maybe",
        "pin: true\nbackend: iptables",
        "sourceCIDRs: [10.0.0.0/8]\nbackend: cni",
      })
  void refusals(String text) {
    String problems = reads.problems(text);
    assertEquals(1, problems.lines().count(), problems);
    assertTrue(problems.startsWith("f:1:"), problems);
    assertTrue(problems.contains(": error: ") && problems.endsWith(")"), problems);
  }

  @Test
  void ipv6ByTheFile() {
    assertEquals(
        List.of(Cidr.of("fd00::/8")),
        reads
            .config("nonMasqueradeCIDRs: [\"fd00::/8\"]\nenableIPv6: true\n")
            .nonMasqueradeCidrs());
  }

  @Test
  void anEmptySourceListIsNotNobody() {
    assertEquals(
        "f:1:1: warning: sourceCIDRs is empty: traffic from every source is masqueraded (list the"
            + " sources, or remove the key)",
        reads.warnings("sourceCIDRs: []\n"));
  }
}
