package ipmasq.backend.iptables;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.iptables.LegacyTables.Presence;
import ipmasq.iptables.Programs;
import ipmasq.iptables.Variant;
import ipmasq.net.Family;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Legacy or nft, as the node does, and with how many processes that is found out. */
class VariantProbeTest {
  private static final String HINTED = "*mangle\n:KUBE-IPTABLES-HINT - [0:0]\nCOMMIT\n";
  private static final String CANARY = "*mangle\n:KUBE-KUBELET-CANARY - [0:0]\nCOMMIT\n";
  private static final String PLAIN = "*mangle\n:PREROUTING ACCEPT [0:0]\nCOMMIT\n";

  @TempDir Path bin;
  private final ScriptedCommands commands = new ScriptedCommands();

  @BeforeEach
  void programs() throws IOException {
    for (String name : List.of("xtables-nft-multi", "xtables-legacy-multi")) {
      Files.createFile(bin.resolve(name)).toFile().setExecutable(true);
    }
    link("iptables-nft-save", "xtables-nft-multi");
    link("iptables-legacy-save", "xtables-legacy-multi");
  }

  private void link(String name, String target) throws IOException {
    Files.createSymbolicLink(bin.resolve(name), Path.of(target));
  }

  private Variant probe(Presence v4, Presence v6) {
    return new VariantProbe(
            new Programs(":/nonexistent:" + bin),
            (family, table) -> family == Family.IPV4 ? v4 : v6,
            commands)
        .variant();
  }

  @Test
  void nftWithoutLegacyTablesNeedsNoProcess() throws IOException {
    link("iptables-save", "iptables-nft-save");
    Variant variant = probe(Presence.NOT_THERE, Presence.NOT_THERE);
    assertEquals(Variant.Kind.NFT, variant.kind());
    assertEquals("", variant.reason());
    assertEquals("iptables-save", variant.save(Family.IPV4));
    assertEquals("ip6tables-restore", variant.restore(Family.IPV6));
    assertEquals(List.of(), commands.asked);
  }

  @Test
  void aHintInNftBeatsALegacyDefault() throws IOException {
    link("iptables-save", "iptables-legacy-save");
    commands.prints(HINTED);
    Variant variant = probe(Presence.NOT_THERE, Presence.NOT_THERE);
    assertEquals(Variant.Kind.NFT, variant.kind());
    assertEquals("the kubelet's chain KUBE-IPTABLES-HINT is there", variant.reason());
    assertEquals("iptables-nft-save", variant.save(Family.IPV4));
    assertEquals("ip6tables-nft-restore", variant.restore(Family.IPV6));
    assertEquals(List.of("iptables-nft-save -t mangle"), commands.asked);
  }

  @Test
  void aHintInLegacyBeatsAnNftDefault() throws IOException {
    link("iptables-save", "iptables-nft-save");
    commands.prints(PLAIN).prints(PLAIN).prints(CANARY);
    Variant variant = probe(Presence.THERE, Presence.NOT_THERE);
    assertEquals(Variant.Kind.LEGACY, variant.kind());
    assertEquals("the kubelet's chain KUBE-KUBELET-CANARY is there", variant.reason());
    assertEquals("ip6tables-legacy-save", variant.save(Family.IPV6));
    assertEquals("iptables-legacy-save -t mangle", commands.asked.getLast());
  }

  @Test
  void legacyIsNeverAskedWhereItHasNoMangleTable() throws IOException {
    link("iptables-save", "iptables-legacy-save");
    commands.prints(PLAIN).prints(PLAIN);
    Variant variant = probe(Presence.NOT_THERE, Presence.UNKNOWN);
    assertEquals(Variant.Kind.LEGACY, variant.kind());
    assertEquals("", variant.reason());
    assertEquals(
        List.of("iptables-nft-save -t mangle", "ip6tables-nft-save -t mangle"), commands.asked);
  }

  @Test
  void noProgramAtAll() {
    Variant variant =
        new VariantProbe(new Programs(""), (family, table) -> Presence.UNKNOWN, commands).variant();
    assertEquals(Variant.Kind.UNKNOWN, variant.kind());
    assertEquals(List.of(), commands.asked);
  }
}
