package ipmasq.app;

import ipmasq.log.Log;
import ipmasq.log.LogEvent;
import ipmasq.log.LogEvent.LogEventKind;
import ipmasq.loop.ConfigWatch;
import ipmasq.loop.Pass;
import ipmasq.loop.Triggers;
import java.nio.file.Path;
import java.util.List;

/** Starts after the first pass, whatever its result. Used by the loop's thread. */
public final class ConfigWatchers {
  private final List<Path> configs;
  private final Triggers triggers;
  private final Log log;
  private boolean started;

  public ConfigWatchers(List<Path> configs, Triggers triggers, Log log) {
    this.configs = configs;
    this.triggers = triggers;
    this.log = log;
  }

  /** Called after each pass; the first starts them. */
  public void start(Pass pass) {
    if (started) {
      return;
    }
    started = true;
    for (Path config : configs) {
      ConfigWatch.start(
          config,
          triggers,
          warning -> log.warn(LogEvent.of(LogEventKind.CONFIG_UNWATCHED, warning)));
    }
  }
}
