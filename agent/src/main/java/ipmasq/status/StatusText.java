package ipmasq.status;

import ipmasq.config.Reading;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.plan.Change;
import ipmasq.plan.Counter;
import ipmasq.plan.Tally;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import ipmasq.status.Status.Shown;
import ipmasq.status.Status.Totals;
import ipmasq.sync.SyncReport;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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
    text.problems();
    text.section("Other rules", status.conflicts().orElse(List.of()));
    text.history();
    return text.text.toString();
  }

  private void line(String line) {
    text.append(line).append('\n');
  }

  private void head() {
    line(status.headline().sentence());
    line("");
    String sources =
        status.last().sources().stream().map(StatusText::words).collect(Collectors.joining(", "));
    String none =
        !status.hasPast() && status.last().basis() != SyncReport.Basis.FILE
            ? "not known: the file is bad"
            : status.last().effective().keepsEarlierRules()
                ? "none: the rules of an earlier run are kept"
                : "the default list";
    line(
        "Config   "
            + (sources.isEmpty() ? none : sources)
            + (status.hasPast() ? since(status.configSince()) : ""));
    line("Backend  " + status.last().backend() + ": " + status.last().backendReason());
    status.identity().started().ifPresent(this::agent);
  }

  private static String words(Reading.SourceFile source) {
    return source.path()
        + source
            .hash()
            .map(hash -> " (sha256 " + hash.substring(0, 12) + "…)")
            .orElse(" (missing)");
  }

  private void agent(Instant started) {
    Totals totals = status.totals();
    line(
        "Agent    %s%s%s: %d syncs, %d writes, %d repairs, %d failures"
            .formatted(
                status.identity().version(),
                status.identity().node().map(node -> " on " + node).orElse(""),
                since(started),
                Totals.sum(totals.syncs()),
                Totals.sum(totals.changes()),
                Totals.sum(totals.repairs()),
                Totals.sum(totals.failures())));
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
    return ", since " + toSeconds(instant) + " (" + age + ")";
  }

  private static Instant toSeconds(Instant instant) {
    return Instant.ofEpochSecond(instant.getEpochSecond());
  }

  private void family(Family family) {
    Policy policy = status.policy(family);
    Optional<Tally> tally = status.tally(family);
    Shown shown = status.shown(family);
    line("");
    String scope = policy.sources().isEmpty() ? "" : ", only from " + list(policy.sources());
    scope += policy.interfaces().isEmpty() ? "" : ", only out of " + list(policy.interfaces());
    scope += policy.pinned() ? ", exempt ranges pinned" : "";
    line(family + "     " + StatusJson.words(policy.translation()) + scope);
    TextTable table =
        new TextTable("DESTINATION", shown.toString().toUpperCase(Locale.ROOT), "FLOWS");
    List<Destination> destinations = policy.destinations();
    destinations.stream()
        .limit(MOST_RANGES)
        .forEach(
            destination -> {
              Cidr range = destination.range();
              boolean exempt = destination.treatment() == Treatment.EXEMPT;
              row(table, range.toString(), exempt, tally.map(t -> t.ranges().get(range)));
            });
    if (destinations.size() > MOST_RANGES) {
      table.row(destinations.size() - MOST_RANGES + " more", "", "");
    }
    if (tally.isPresent() && tally.get().ranges().isEmpty()) {
      row(table, "these together", true, tally.map(Tally::exempted));
    }
    row(table, "everything else", false, tally.map(Tally::translated));
    text.append(table.text("  "));
    if (shown == Shown.RULES) {
      line("  Something decides otherwise, or may: see above and below.");
    }
  }

  private static void row(
      TextTable table, String range, boolean exempt, Optional<Counter> counter) {
    table.row(
        range,
        exempt ? "keeps its source" : "masqueraded",
        counter.map(c -> String.valueOf(c.packets())).orElse("-"));
  }

  private static String list(List<?> items) {
    return items.stream().map(Object::toString).collect(Collectors.joining(", "));
  }

  private void problems() {
    List<Object> problems = new ArrayList<>(status.last().problems());
    for (Family family : status.enabled()) {
      status.standing(family).failure().ifPresent(it -> problems.add(family + ": " + it));
    }
    problems.addAll(status.last().warnings());
    section("Problems", problems);
  }

  private void section(String title, List<?> lines) {
    if (!lines.isEmpty()) {
      line("");
      line(title);
      lines.forEach(each -> line("  " + each));
    }
  }

  private void history() {
    if (status.hasPast()) {
      section(
          "What happened",
          status.history().reversed().stream().limit(MOST_EVENTS).map(StatusText::words).toList());
    }
  }

  private static String words(Event event) {
    Event.What what = event.what();
    String changes =
        Stream.concat(what.changes().stream().map(Change::toString), what.rule().stream())
            .collect(Collectors.joining(" "));
    return toSeconds(event.until())
        + "  "
        + what.kind()
        + what.family().map(family -> " " + family).orElse("")
        + ": "
        + what.text()
        + (event.times() > 1 ? " (" + event.times() + " times)" : "")
        + (changes.isEmpty() ? "" : ": " + changes)
        + (what.more() == 0 ? "" : " and " + what.more() + " more");
  }
}
