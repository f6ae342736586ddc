package ipmasq.app;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.config.Config;
import ipmasq.config.FlagDefaults;
import ipmasq.config.Key;
import ipmasq.evidence.flows.Answers;
import ipmasq.log.Log;
import ipmasq.sync.EffectiveConfig;
import ipmasq.sync.SyncReport.Basis;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StateFolderTest {
  private static final Config GOOD = Config.defaults().with(Key.ENABLE_IPV6, true);

  @TempDir private Path path;

  private StateFolder folder(boolean writes) {
    return new StateFolder(path, writes, FlagDefaults::none);
  }

  private Map<String, String> files() throws IOException {
    Map<String, String> files = new HashMap<>();
    try (var all = Files.newDirectoryStream(path)) {
      for (Path file : all) {
        files.put(file.getFileName().toString(), Files.readString(file));
      }
    }
    return files;
  }

  @Test
  void aDryRunReadsWhatTheAgentKeepsAndChangesNothing() throws IOException {
    StateFolder agents = folder(true);
    agents.config(GOOD);
    agents.answers(Answers.parse(List.of("203.0.113.5 6 true 10.244.1.2 3 0 0")));
    agents.rolledBack(new StateFolder.RolledBack("a hash", "why"));
    Map<String, String> kept = files();
    assertEquals(3, kept.size());

    StateFolder dry = folder(false);
    Log log = new Log(_ -> {}, Clock.systemUTC(), Log.Format.TEXT, 0);
    Probation probation = new Probation(dry, () -> {}, log, Clock.systemUTC());
    EffectiveConfig other =
        new EffectiveConfig(Config.defaults(), Basis.FILE, List.of(), List.of());
    probation.apply(other);
    probation.save(new Answers());
    dry.config(Config.defaults());
    assertEquals(kept, files());
    assertEquals(GOOD, probation.inherited().orElseThrow());
  }
}
