package ipmasq.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.app.Backends;
import ipmasq.app.Settings;
import ipmasq.config.ConfigPaths.IfMissing;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShowPlanTest {
  private static final String CNI =
      """
      {"cniVersion": "0.3.1", "name": "l2bridge", "type": "win-bridge", "policies": [
        {"name": "EndpointPolicy", "value": {"Type": "OutBoundNAT", "ExceptionList": ["10.0.0.0/8"]}}]}
      """;

  @TempDir Path directory;

  @Test
  void readsTheStandardInput() throws IOException {
    Path cni = Files.writeString(directory.resolve("cni.conf"), CNI);
    CommandLine line =
        assertInstanceOf(
                CommandLine.ParsedLine.GoodLine.class,
                CommandLine.parse(
                    List.of("plan", "--config=-", "--backend=cni", "--cni-config=" + cni)))
            .line();
    Settings settings =
        assertInstanceOf(
                SettingsParser.ParsedSettings.GoodSettings.class,
                SettingsParser.of(line, IfMissing.ERROR))
            .settings();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    PrintStream stream = new PrintStream(out, true, UTF_8);
    try (Backends backends = Backends.withoutOwner(settings)) {
      int exit =
          ShowPlan.run(
              new CommandContext(stream, stream, settings, backends, false),
              new ByteArrayInputStream("nonMasqueradeCIDRs: [172.16.0.0/12]\n".getBytes(UTF_8)));
      assertEquals(2, exit, () -> out.toString(UTF_8));
    }
    assertTrue(out.toString(UTF_8).contains("+172.16.0.0/12"), () -> out.toString(UTF_8));
    assertEquals(CNI, Files.readString(cni));
  }
}
