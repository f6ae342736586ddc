package ipmasq.status;

import ipmasq.config.Problem;
import ipmasq.config.Reading;
import ipmasq.hook.Conflict;
import ipmasq.loop.Pass;
import ipmasq.net.Family;
import ipmasq.plan.Change;
import ipmasq.plan.Counter;
import ipmasq.plan.Tally;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The status for a terminal. */
public final class StatusText {
  private static final int MOST_RANGES = 64;
  private static final int MOST_EVENTS = 10;

  private final StringBuilder text = new StringBuilder();
  private final View view;
  private final Status status;

  private StatusText(View view) {
    this.view = view;
    this.status = view.status();
  }

  public static String of(View view) {
    StatusText text = new StatusText(view);
    text.state();
    for (Family family : view.status().enabled()) {
      text.family(family);
    }
    text.problems();
    text.conflicts();
    text.history();
    return text.text.toString();
  }

  private void line(String line) {
    text.append(line).append('\n');
  }

  private void state() {
    line(view.state().sentence());
    line("");
    List<String> sources = new ArrayList<>();
    for (Reading.SourceFile source : status.last().sources()) {
      sources.add(
          source.path()
              + source
                  .hash()
                  .map(hash -> " (sha256 " + hash.substring(0, 12) + "…)")
                  .orElse(" (missing)"));
    }
    String none =
        !status.hasPast() && status.last().basis() != Pass.Basis.FILE
            ? "not known: the file is bad"
            : status.last().effective().keepsEarlierRules()
                ? "none: the rules of an earlier run are kept"
                : "the defaults";
    String from = sources.isEmpty() ? none : String.join(", ", sources);
    line("Config   " + from + (status.hasPast() ? since(status.configSince()) : ""));
    line("Backend  " + status.last().backend() + ": " + status.last().backendReason());
    status.identity().started().ifPresent(this::agent);
  }

  private void agent(Instant started) {
    Totals totals = status.totals();
    line(
        "Agent    "
            + status.identity().version()
            + status.identity().node().map(node -> " on " + node).orElse("")
            + since(started)
            + ": "
            + totals.allPasses()
            + " passes, "
            + Totals.sum(totals.changes())
            + " wrote rules, "
            + Totals.sum(totals.repairs())
            + " undid tampering, "
            + Totals.sum(totals.failures())
            + " failed");
    line("Flows    " + status.flows().line(view.now()));
  }

  private String since(Instant instant) {
    return ", since "
        + seconds(instant)
        + " ("
        + words(Duration.between(instant, view.now()))
        + ")";
  }

  private static Instant seconds(Instant instant) {
    return Instant.ofEpochSecond(instant.getEpochSecond());
  }

  private static String words(Duration age) {
    long seconds = Math.max(0, age.toSeconds());
    return seconds < 120
        ? seconds + " s"
        : seconds < 7200
            ? seconds / 60 + " min"
            : seconds < 172_800 ? seconds / 3600 + " h" : seconds / 86_400 + " days";
  }

  private void family(Family family) {
    Policy policy = view.policy(family);
    Optional<Tally> tally = view.tally(family);
    line("");
    String scope = policy.sources().isEmpty() ? "" : ", only from " + list(policy.sources());
    scope += policy.interfaces().isEmpty() ? "" : ", only out of " + list(policy.interfaces());
    scope += policy.pinned() ? ", exempt ranges pinned" : "";
    line(family + "     " + StatusJson.words(policy.translation()) + scope);
    TextTable columns = new TextTable("DESTINATION", "WHAT HAPPENS", "FLOWS", "BYTES");
    List<Destination> destinations = policy.destinations();
    for (Destination destination :
        destinations.subList(0, Math.min(destinations.size(), MOST_RANGES))) {
      row(
          columns,
          destination.range().toString(),
          destination.treatment() == Treatment.EXEMPT ? "keeps its source" : "masqueraded",
          tally.map(t -> t.ranges().get(destination.range())));
    }
    if (destinations.size() > MOST_RANGES) {
      columns.row(destinations.size() - MOST_RANGES + " more", "", "", "");
    }
    if (tally.isPresent() && tally.get().ranges().isEmpty()) {
      row(columns, "these together", "keeps its source", tally.map(Tally::exempted));
    }
    row(columns, "everything else", "masqueraded", tally.map(Tally::translated));
    text.append(columns.text("  "));
  }

  private static void row(TextTable columns, String range, String what, Optional<Counter> counter) {
    columns.row(
        range,
        what,
        counter.map(c -> String.valueOf(c.packets())).orElse("-"),
        counter.map(c -> String.valueOf(c.bytes())).orElse("-"));
  }

  private static String list(List<?> items) {
    List<String> texts = new ArrayList<>();
    items.forEach(item -> texts.add(item.toString()));
    return String.join(", ", texts);
  }

  private void problems() {
    List<String> problems = new ArrayList<>();
    for (Problem problem : status.last().problems()) {
      problems.add(problem.toString());
    }
    for (Family family : status.enabled()) {
      status.failure(family).ifPresent(failure -> problems.add(family + ": " + failure));
    }
    problems.addAll(status.last().warnings());
    if (!problems.isEmpty()) {
      line("");
      line("Problems");
      problems.forEach(problem -> line("  " + problem));
    }
  }

  private void conflicts() {
    List<Conflict> conflicts = view.conflicts();
    if (!conflicts.isEmpty()) {
      line("");
      line("Other rules");
      conflicts.forEach(conflict -> line("  " + conflict));
    }
  }

  private void history() {
    if (!status.hasPast() || status.history().isEmpty()) {
      return;
    }
    line("");
    line("What happened");
    List<Event> history = status.history().reversed();
    for (Event event : history.subList(0, Math.min(history.size(), MOST_EVENTS))) {
      String changes =
          Stream.concat(event.changes().stream().map(Change::toString), event.rule().stream())
              .collect(Collectors.joining(" "));
      String more = event.more() == 0 ? "" : " and " + event.more() + " more";
      line(
          "  "
              + seconds(event.until())
              + "  "
              + event.kind().word()
              + event.family().map(family -> " " + family).orElse("")
              + ": "
              + event.text()
              + (event.times() > 1 ? " (" + event.times() + " times)" : "")
              + (changes.isEmpty() ? "" : ": " + changes)
              + more);
    }
  }
}
