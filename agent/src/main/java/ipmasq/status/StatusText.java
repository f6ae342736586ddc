package ipmasq.status;

import ipmasq.config.FileSnapshot;
import ipmasq.log.Log;
import ipmasq.net.Family;
import ipmasq.plan.Tally;
import ipmasq.plan.Tally.Counter;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import ipmasq.status.Status.Deed;
import ipmasq.status.Status.Shown;
import ipmasq.status.Status.Totals;
import ipmasq.sync.SyncReport;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** The status for a terminal. */
public final class StatusText {
  private static final int MOST_RANGES = 64;
  private static final int MOST_EVENTS = 10;

  private final StringBuilder text = new StringBuilder();
  private final Status status;

  private StatusText(Status status) {
    this.status = status;
  }

  public static String of(Status status) {
    StatusText text = new StatusText(status);
    text.head();
    status.enabled().forEach(text::family);
    text.section("Problems", text.problems());
    text.section("Other rules", status.conflicts());
    text.section(
        "What happened",
        status.history().reversed().stream().limit(MOST_EVENTS).map(StatusText::words).toList());
    return text.text.toString();
  }

  private void line(String line) {
    text.append(line).append('\n');
  }

  private void section(String title, List<?> lines) {
    if (!lines.isEmpty()) {
      line("\n" + title);
      lines.forEach(each -> line("  " + each));
    }
  }

  private void head() {
    SyncReport last = status.last();
    line(status.headline().sentence() + "\n");
    String sources = list(last.sources().stream().map(StatusText::words).toList());
    String none =
        !status.hasPast() && last.basis() != SyncReport.Basis.FILE
            ? "not known: the file is bad"
            : last.effective().keepsEarlierRules()
                ? "none: the rules of an earlier run are kept"
                : "the default list";
    String since = status.hasPast() ? since(status.configSince()) : "";
    line("Config   " + (sources.isEmpty() ? none : sources) + since);
    line("Backend  " + last.backend() + ": " + last.backendReason());
    status.identity().started().ifPresent(this::agent);
  }

  private static String words(FileSnapshot file) {
    return file.path()
        + file.hash().map(h -> " (sha256 " + h.substring(0, 12) + "…)").orElse(" (missing)");
  }

  private void agent(Instant started) {
    Totals totals = status.totals();
    line(
        "Agent    %s%s%s: %d syncs, %d writes, %d repairs, %d failures"
            .formatted(
                status.identity().version(),
                status.identity().node().map(node -> " on " + node).orElse(""),
                since(started),
                totals.allSyncs(),
                totals.of(Deed.CHANGE),
                totals.of(Deed.REPAIR),
                totals.of(Deed.FAILURE)));
    line("Flows    " + status.flows().line(status.now()));
    status.flows().answerLines().forEach(answers -> line("Answers  " + answers));
  }

  private String since(Instant instant) {
    long seconds = Math.max(0, Duration.between(instant, status.now()).toSeconds());
    String age =
        seconds < 120
            ? seconds + " s"
            : seconds < 7200
                ? seconds / 60 + " min"
                : seconds < 172_800 ? seconds / 3600 + " h" : seconds / 86_400 + " days";
    return ", since " + instant.truncatedTo(ChronoUnit.SECONDS) + " (" + age + ")";
  }

  private void family(Family family) {
    Policy policy = status.policy(family);
    Optional<Tally> tally = status.sample().tally(family);
    Shown shown = status.shown(family);
    line(
        "\n"
            + family
            + "     "
            + StatusJson.words(policy.translation())
            + (policy.sources().isEmpty() ? "" : ", only from " + list(policy.sources()))
            + (policy.interfaces().isEmpty() ? "" : ", only out of " + list(policy.interfaces()))
            + (policy.pinned() ? ", exempt ranges pinned" : ""));
    TextTable table =
        new TextTable("DESTINATION", shown.toString().toUpperCase(Locale.ROOT), "FLOWS");
    List<Destination> all = policy.destinations();
    for (Destination each : all.subList(0, Math.min(all.size(), MOST_RANGES))) {
      Optional<Counter> counter = tally.map(it -> it.ranges().get(each.range()));
      row(table, each.range().toString(), each.treatment(), counter);
    }
    if (all.size() > MOST_RANGES) {
      table.row(all.size() - MOST_RANGES + " more", "", "");
    }
    if (tally.filter(it -> it.ranges().isEmpty()).isPresent()) {
      row(table, "these together", Treatment.EXEMPT, tally.map(Tally::exempted));
    }
    row(table, "everything else", Treatment.TRANSLATE, tally.map(Tally::translated));
    text.append(table.text("  "));
    if (shown == Shown.RULES) {
      line("  What happens may differ: see above and below.");
    }
  }

  private static void row(
      TextTable table, String range, Treatment treatment, Optional<Counter> counter) {
    table.row(
        range,
        treatment == Treatment.EXEMPT ? "keeps its source" : "masqueraded",
        counter.map(it -> String.valueOf(it.packets())).orElse("-"));
  }

  private static String list(List<?> items) {
    return items.stream().map(Object::toString).collect(Collectors.joining(", "));
  }

  private List<Object> problems() {
    List<Object> problems = new ArrayList<>(status.last().problems());
    for (Family family : status.enabled()) {
      status.standing(family).failure().ifPresent(it -> problems.add(family + ": " + it));
    }
    problems.addAll(status.last().warnings());
    return problems;
  }

  private static String words(Log.Line line) {
    String level = line.level() == Log.Level.INFO ? "" : line.level() + " ";
    return line.at().truncatedTo(ChronoUnit.SECONDS) + "  " + level + line.event().message();
  }
}
