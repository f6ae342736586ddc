package ipmasq.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
    InProcess.Answer plan =
        InProcess.fed(
            "nonMasqueradeCIDRs: [172.16.0.0/12]\n",
            "plan",
            "--config=-",
            "--backend=cni",
            "--cni-config=" + cni);
    assertEquals(2, plan.exit(), plan::toString);
    assertTrue(plan.out().contains("+172.16.0.0/12"), plan::toString);
    assertEquals(CNI, Files.readString(cni));
  }
}
