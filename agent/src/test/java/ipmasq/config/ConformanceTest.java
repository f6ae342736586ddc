package ipmasq.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Family;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every recorded file is read as the case says; the rules themselves are a kernel's test. */
class ConformanceTest {
  @TempDir Path directory;

  static Stream<Case> casesWithFile() {
    return Stream.concat(Case.all().stream(), Case.own().stream())
        .filter(c -> c.file().isPresent());
  }

  @ParameterizedTest
  @MethodSource("casesWithFile")
  void isReadAsRecorded(Case recorded) throws IOException {
    Path file = Files.write(directory.resolve("ip-masq-agent"), recorded.file().orElseThrow());
    Reading reading = ConfigReader.read(file, base(recorded));
    switch (recorded.here()) {
      case "rules" -> {
        Config config = assertInstanceOf(Reading.Read.class, reading).config();
        assertEquals(exempt(recorded, "rules4"), exempt(config, Family.IPV4));
        if (config.enableIpv6()) {
          assertEquals(exempt(recorded, "rules6"), exempt(config, Family.IPV6));
        }
      }
      case "rejects" -> assertInstanceOf(Reading.Rejected.class, reading);
      case "either" -> {}
      default -> throw new IllegalStateException(recorded.here());
    }
  }

  private static FlagDefaults base(Case recorded) {
    Config config =
        Config.defaults()
            .with(Key.ENABLE_IPV6, recorded.flag("--enable-ipv6"))
            .with(
                Key.NON_MASQUERADE_CIDRS,
                Cidrs.copyOf(
                    recorded.flag("--nomasq-all-reserved-ranges")
                        ? Config.RESERVED
                        : Config.PRIVATE));
    return new FlagDefaults(config, Set.of(), Config.BackendChoice.IPTABLES);
  }

  /** The destinations of the RETURN rules. */
  private static List<Cidr> exempt(Case recorded, String rules) {
    List<Cidr> cidrs = new ArrayList<>();
    for (String rule : recorded.list(rules)) {
      if (rule.endsWith("-j RETURN")) {
        String everything = rules.equals("rules4") ? "0.0.0.0/0" : "::/0";
        int at = rule.indexOf(" -d ");
        cidrs.add(Cidr.of(at < 0 ? everything : rule.substring(at + 4).split(" ")[0]));
      }
    }
    return List.copyOf(new LinkedHashSet<>(cidrs));
  }

  private static List<Cidr> exempt(Config config, Family family) {
    Set<Cidr> cidrs = new LinkedHashSet<>();
    boolean masquerade =
        family == Family.IPV4
            ? config.of(Key.MASQ_LINK_LOCAL)
            : config.of(Key.MASQ_LINK_LOCAL_IPV6);
    if (!masquerade) {
      cidrs.add(family.linkLocal());
    }
    config.nonMasqueradeCidrs().stream().filter(c -> c.family() == family).forEach(cidrs::add);
    return List.copyOf(cidrs);
  }
}
