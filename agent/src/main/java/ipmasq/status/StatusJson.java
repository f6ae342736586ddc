package ipmasq.status;

import ipmasq.config.Key;
import ipmasq.config.Problem;
import ipmasq.config.Reading;
import ipmasq.flows.FlowEvidence;
import ipmasq.flows.SampledFlow;
import ipmasq.hook.Conflict;
import ipmasq.json.Json;
import ipmasq.loop.Pass;
import ipmasq.loop.PassJson;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.plan.Counter;
import ipmasq.plan.Tally;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import ipmasq.policy.Translation;
import ipmasq.status.Status.Standing;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The status for scripts and for the page. */
public final class StatusJson {
  /** With more ranges than this only the busiest are listed, but all are counted. */
  static final int MOST_RANGES = 1000;

  private StatusJson() {}

  public static String of(View view) {
    return Json.write(map(view));
  }

  static Map<String, Object> map(View view) {
    Status status = view.status();
    Pass last = status.last();
    Map<String, Object> fields = new LinkedHashMap<>();
    State state = view.state();
    fields.put("ok", state.ok());
    fields.put("version", status.identity().version());
    fields.put("node", orNull(status.identity().node()));
    fields.put("started", orNull(status.identity().started()));
    fields.put("now", view.now());
    fields.put("ready", status.ready());
    fields.put("running", status.identity().keeper().runs());
    fields.put("level", state.level());
    fields.put("summary", state.sentence());
    fields.put("reasons", status.reasons());
    fields.put("config", config(status));
    fields.put("backend", last.backend());
    fields.put("backendReason", last.backendReason());
    fields.put(
        "lastPass",
        pairs(
            "at",
            last.at(),
            "duration",
            PassJson.duration(last.took()),
            "trigger",
            status.hasPast() ? PassJson.trigger(last) : null,
            "fighting",
            status.hasPast() ? last.fighting() : null));
    List<Object> families = new ArrayList<>();
    for (Family family : status.enabled()) {
      families.add(family(view, family));
    }
    fields.put("families", families);
    List<Object> conflicts = new ArrayList<>();
    for (Conflict conflict : view.conflicts()) {
      conflicts.add(conflict.fields());
    }
    fields.put("conflicts", conflicts);
    fields.put("warnings", last.warnings());
    fields.put("evidence", evidence(view));
    fields.put("totals", status.hasPast() ? totals(status.totals()) : null);
    List<Object> history = new ArrayList<>();
    if (status.hasPast()) {
      for (Event event : status.history().reversed()) {
        history.add(event(event));
      }
    }
    fields.put("history", history);
    return fields;
  }

  private static Map<String, @Nullable Object> config(Status status) {
    Pass last = status.last();
    Map<String, @Nullable Object> config = new LinkedHashMap<>();
    config.put("basis", last.basis().word());
    List<Object> sources = new ArrayList<>();
    for (Reading.SourceFile source : last.sources()) {
      sources.add(pairs("file", source.path().toString(), "sha256", orNull(source.hash())));
    }
    config.put("sources", sources);
    config.put("since", status.hasPast() ? status.configSince() : null);
    config.put("resyncInterval", Key.RESYNC_INTERVAL.json(last.config().resyncInterval()));
    List<Object> problems = new ArrayList<>();
    for (Problem problem : last.problems()) {
      problems.add(problem.fields());
    }
    config.put("problems", problems);
    return config;
  }

  private static Map<String, Object> family(View view, Family family) {
    Standing standing = view.status().standing(family);
    Policy policy = view.policy(family);
    Optional<Tally> tally = view.tally(family);
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("family", family);
    fields.put("inForce", standing.failure().isEmpty());
    fields.put("since", view.status().hasPast() ? standing.since() : null);
    fields.put(
        "failure",
        standing
            .failure()
            .map(failure -> PassJson.failure(family, standing.backend(), failure))
            .orElse(null));
    fields.put("sources", policy.sources());
    fields.put("interfaces", policy.interfaces());
    fields.put("pinned", policy.pinned());
    fields.put("translation", words(policy.translation()));
    fields.put("translated", counter(tally.map(Tally::translated)));
    fields.put("exempted", counter(tally.map(Tally::exempted)));
    fields.put("rangeCount", policy.destinations().size());
    List<Object> ranges = new ArrayList<>();
    for (Destination destination : view.busiest(family, MOST_RANGES)) {
      ranges.add(
          pairs(
              "range",
              destination.range(),
              "treatment",
              destination.treatment() == Treatment.EXEMPT ? "exempt" : "masquerade",
              "seen",
              counter(tally.map(t -> t.ranges().get(destination.range())))));
    }
    fields.put("ranges", ranges);
    // What remains of the ranges when exceptions are cut out of them: what a picture shows.
    List<Cidr> exempt = policy.exempt();
    fields.put("exemptCount", exempt.size());
    fields.put("exempt", few(exempt));
    return fields;
  }

  private static <T> List<T> few(List<T> list) {
    return list.subList(0, Math.min(list.size(), MOST_RANGES));
  }

  private static @Nullable Map<String, Object> counter(Optional<Counter> counter) {
    return counter.map(c -> pairs("packets", c.packets(), "bytes", c.bytes())).orElse(null);
  }

  /** What live flows showed. */
  private static Map<String, Object> evidence(View view) {
    FlowEvidence flows = view.status().flows();
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("message", flows.line(view.now()));
    fields.put("sampled", flows.flows());
    fields.put("wrong", flows.wrong());
    fields.put("samples", flows.samples().size());
    fields.put("lossySamples", flows.lossy());
    fields.put("since", orNull(flows.since()));
    fields.put("note", orNull(flows.note()));
    List<Object> examples = new ArrayList<>();
    for (SampledFlow flow : flows.examples()) {
      examples.add(
          pairs(
              "at",
              flow.at(),
              "pod",
              flow.source(),
              "destination",
              flow.destination(),
              "protocol",
              flow.protocolName(),
              "port",
              flow.port() == 0 ? null : flow.port(),
              "leftAs",
              flow.leftAs(),
              "message",
              flow.toString()));
    }
    fields.put("examples", examples);
    return fields;
  }

  private static Map<String, Object> totals(Totals totals) {
    return pairs(
        "passes",
        totals.allPasses(),
        "changes",
        Totals.sum(totals.changes()),
        "repairs",
        Totals.sum(totals.repairs()),
        "failures",
        Totals.sum(totals.failures()),
        "rejections",
        totals.rejections());
  }

  private static Map<String, Object> event(Event event) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("at", event.at());
    fields.put("until", event.until());
    fields.put("times", event.times());
    fields.put("kind", event.kind().word());
    fields.put("family", orNull(event.family()));
    fields.put("backend", orNull(event.backend()));
    fields.put("message", event.text());
    fields.put("changes", changes(event));
    fields.put("more", event.more());
    fields.put("rule", orNull(event.rule()));
    fields.put("duration", PassJson.duration(event.took()));
    return fields;
  }

  /** Changes are of our rules in one place. */
  private static List<Map<String, Object>> changes(Event event) {
    return event.changes().isEmpty()
        ? List.of()
        : PassJson.changes(
            event.family().orElseThrow(), event.backend().orElseThrow(), event.changes());
  }

  static String words(Translation translation) {
    StringBuilder text = new StringBuilder();
    text.append(translation.addresses().map(a -> "snat to " + a).orElse("masquerade"));
    if (!translation.ports().isEmpty()) {
      text.append(" with ports ");
      for (int i = 0; i < translation.ports().size(); i++) {
        text.append(i == 0 ? "" : ",").append(translation.ports().get(i));
      }
    }
    return text.append(translation.randomFully() ? ", ports fully random" : "").toString();
  }

  private static @Nullable Object orNull(Optional<?> value) {
    return value.isPresent() ? value.get() : null;
  }

  /** An ordered map of alternating names and values. */
  static Map<String, Object> pairs(@Nullable Object... namesAndValues) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      map.put(String.valueOf(namesAndValues[i]), namesAndValues[i + 1]);
    }
    return map;
  }
}
