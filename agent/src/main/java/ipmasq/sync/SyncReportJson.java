package ipmasq.sync;

import ipmasq.backend.Failure;
import ipmasq.net.Family;
import ipmasq.plan.Change;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** The parts of a sync as JSON, the same in logs, command output and the status. */
public final class SyncReportJson {
  private SyncReportJson() {}

  public static Map<String, Object> change(Family family, String backend, Change change) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("family", family);
    fields.put("backend", backend);
    fields.put("change", change.kind().name().toLowerCase(Locale.ROOT));
    fields.put("what", change.what());
    return fields;
  }

  public static List<Map<String, Object>> changes(
      Family family, String backend, List<Change> changes) {
    return changes.stream().map(change -> change(family, backend, change)).toList();
  }

  public static Map<String, Object> failure(Family family, String backend, Failure failure) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("family", family);
    fields.put("backend", backend);
    fields.put("message", failure.message());
    fields.put("advice", failure.advice());
    return fields;
  }

  /** The triggers of the sync: usually one, {@code config, drift} for two. */
  public static String trigger(SyncReport report) {
    return report.why().stream().sorted().map(Object::toString).collect(Collectors.joining(", "));
  }

  /** In seconds, to the millisecond. */
  public static double duration(Duration took) {
    return took.toMillis() / 1000.0;
  }
}
