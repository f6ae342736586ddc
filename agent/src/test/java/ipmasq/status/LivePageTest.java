package ipmasq.status;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ipmasq.testkit.AgentProcess;
import ipmasq.testkit.ConfigVolume;
import ipmasq.testkit.KernelTest;
import ipmasq.testkit.Lab;
import ipmasq.testkit.Probe;
import ipmasq.testkit.Result;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The page in a real browser against a running agent, real rules and real packets. */
@KernelTest
@Tag("browser")
@Timeout(240)
class LivePageTest {
  private static final String URL = "http://127.0.0.1:9099/";

  @Test
  void followsTrafficAndTheConfigWithoutAReload() throws Exception {
    assumeTrue(Files.isExecutable(Chromium.PROGRAM), "chromium is not installed");
    try (Lab lab = Lab.open();
        ConfigVolume volume = new ConfigVolume();
        AgentProcess agent =
            AgentProcess.start(
                lab.node(),
                "--config",
                volume.file().toString(),
                "--listen",
                "127.0.0.1:9099",
                "--enable-ipv6");
        Chromium browser = new Chromium(c -> lab.node().processBuilder(c.toArray(String[]::new)))) {
      volume.publish("nonMasqueradeCIDRs:\n  - 172.20.0.0/16\n  - fd00::/8\n");
      agent.awaitLine(line -> line.contains("listening on " + URL.replaceAll("/$", "")));
      agent.awaitLine(line -> line.contains("+172.20.0.0/16"));
      browser.show(1100, 1600, false);
      browser.open(URL);
      browser.await("document.getElementById('state').className === 'good'");
      browser.evaluate("window.sameDocument = true");
      browser.await(rows() + ".includes('172.20.0.0/16')");

      // A range of its own: browsers look for names by themselves, at addresses of all kinds.
      for (int i = 0; i < 3; i++) {
        lab.send(Probe.udp("172.20.0." + (i + 1))).seen();
      }
      lab.send(Probe.udp("198.51.100.7")).seen();
      browser.await(flows("IPv4 172.20.0.0/16") + " === '3'");
      browser.await("Number(" + flows("IPv4 *") + ") >= 1");
      browser.await("document.getElementById('flows').innerText.includes('172.20.0.0/16')");
      browser.screenshot("live-traffic");

      volume.publish("nonMasqueradeCIDRs:\n  - 172.20.0.0/16\n  - 198.51.100.0/24\n  - fd00::/8\n");
      browser.await(rows() + ".includes('198.51.100.0/24')");
      browser.await("document.getElementById('history').innerText.includes('+198.51.100.0/24')");
      assertEquals("3", browser.evaluate(flows("IPv4 172.20.0.0/16")), "counters live on");

      volume.publish("nonMasqueradeCIDRs:\n  - 172.20.0.0/16\n  - 198.51.100.1/24\n");
      browser.await("document.getElementById('state').className === 'bad'");
      String problems = browser.evaluate("document.getElementById('problemlist').innerText");
      assertTrue(problems.contains(volume.file() + ":3:5"), problems);
      assertTrue(problems.contains("198.51.100.1/24"), problems);
      browser.screenshot("live-bad-config");

      Result status = lab.node().run(AgentProcess.builtAgent().toString(), "status");
      assertEquals(1, status.exit(), status.toString());
      assertTrue(status.stdout().contains(volume.file() + ":3:5: error:"), status.stdout());
      assertTrue(status.stdout().contains("198.51.100.0/24"), "the last good config stays");

      assertEquals("true", browser.evaluate("window.sameDocument"), "the page was never reloaded");
      assertEquals(List.of(), browser.complaints());
    }
  }

  private static String rows() {
    return "document.getElementById('ranges').innerText";
  }

  private static String flows(String id) {
    return "document.querySelector('[data-flows=\""
        + id
        + "\"]').textContent.replace(/[^0-9]/g, '')";
  }
}
