package ipmasq.status;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.sync.Trigger;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * What is deployed beside the agent asks for metrics that the agent has; deploy-test has the rest.
 */
class MonitoringTest {
  private static final Path FOLDER =
      Path.of(System.getProperty("ipmasq.project"), "deploy", "monitoring");
  private static final Pattern NAME = Pattern.compile("(?:ip_masq_agent|process)_[a-z_]+");

  /** The names that the agent exposes, those of histograms with their endings. */
  private static Set<String> exposed() {
    Story story = new Story().pass(Trigger.START, Story.unchanged());
    String text = Metrics.of(story.read());
    Set<String> names = new TreeSet<>();
    Matcher types = Pattern.compile("# TYPE (\\S+) (\\S+)").matcher(text);
    while (types.find()) {
      if (types.group(2).equals("histogram")) {
        names.add(types.group(1) + "_bucket");
      } else {
        names.add(types.group(1));
      }
    }
    return names;
  }

  @Test
  void alertsAndDashboardAskForMetricsThatThereAre() throws IOException {
    Set<String> exposed = exposed();
    for (String file : new String[] {"alerts.yaml", "grafana-dashboard.json"}) {
      Set<String> asked = new TreeSet<>();
      Matcher names = NAME.matcher(Files.readString(FOLDER.resolve(file)));
      while (names.find()) {
        asked.add(names.group());
      }
      assertTrue(asked.size() > 4, file);
      asked.removeAll(exposed);
      assertEquals(Set.of(), asked, file + " asks for what the agent does not have");
    }
  }
}
