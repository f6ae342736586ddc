package ipmasq.status;

import ipmasq.config.Key;
import ipmasq.config.Problem;
import ipmasq.evidence.flows.FlowEvidence;
import ipmasq.evidence.flows.SampledFlow;
import ipmasq.evidence.neighbours.Conflict;
import ipmasq.json.Json;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.plan.Counter;
import ipmasq.plan.Tally;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import ipmasq.policy.Translation;
import ipmasq.status.Status.Standing;
import ipmasq.status.Status.Totals;
import ipmasq.sync.SyncReport;
import ipmasq.sync.SyncReportJson;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The status for scripts and for the page. */
public final class StatusJson {
  /** With more ranges than this only the busiest are listed, but all are counted. */
  static final int MOST_RANGES = 1000;

  private StatusJson() {}

  public static String of(Status status) {
    return Json.write(map(status));
  }

  static Map<String, Object> map(Status status) {
    SyncReport last = status.last();
    Headline headline = status.headline();
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("ok", headline.ok());
    fields.put("version", status.identity().version());
    fields.put("node", orNull(status.identity().node()));
    fields.put("started", orNull(status.identity().started()));
    fields.put("now", status.now());
    fields.put("ready", status.ready());
    fields.put("running", status.identity().agent().runs());
    fields.put("level", headline.level());
    fields.put("summary", headline.sentence());
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
            SyncReportJson.duration(last.took()),
            "trigger",
            status.hasPast() ? SyncReportJson.trigger(last) : null,
            "fighting",
            status.hasPast() ? last.fighting() : null));
    fields.put("families", status.enabled().stream().map(it -> family(status, it)).toList());
    fields.put("conflictsKnown", status.conflicts().isPresent());
    fields.put(
        "conflicts", status.conflicts().orElse(List.of()).stream().map(Conflict::fields).toList());
    fields.put("warnings", last.warnings());
    fields.put("evidence", evidence(status));
    fields.put("totals", status.hasPast() ? totals(status.totals()) : null);
    fields.put(
        "history",
        status.hasPast()
            ? status.history().reversed().stream().map(StatusJson::event).toList()
            : List.of());
    return fields;
  }

  private static Map<String, Object> config(Status status) {
    SyncReport last = status.last();
    return pairs(
        "basis",
        last.basis().word(),
        "sources",
        last.sources().stream()
            .map(it -> pairs("file", it.path().toString(), "sha256", orNull(it.hash())))
            .toList(),
        "since",
        status.hasPast() ? status.configSince() : null,
        "resyncInterval",
        Key.RESYNC_INTERVAL.json(last.config().resyncInterval()),
        "problems",
        last.problems().stream().map(Problem::fields).toList());
  }

  private static Map<String, Object> family(Status status, Family family) {
    Standing standing = status.standing(family);
    Policy policy = status.policy(family);
    Optional<Tally> tally = status.tally(family);
    Map<Cidr, Counter> counters = tally.map(Tally::ranges).orElse(Map.of());
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("family", family);
    fields.put("inForce", standing.rules() == Status.Rules.IN_FORCE);
    fields.put("since", status.hasPast() ? standing.since() : null);
    fields.put(
        "failure",
        standing
            .failure()
            .map(failure -> SyncReportJson.failure(family, standing.backend(), failure))
            .orElse(null));
    fields.put("shown", status.shown(family).name().toLowerCase(Locale.ROOT));
    fields.put("sources", policy.sources());
    fields.put("interfaces", policy.interfaces());
    fields.put("pinned", policy.pinned());
    fields.put("translation", words(policy.translation()));
    fields.put("translatedFlows", flows(tally.map(Tally::translated)));
    fields.put("exemptedFlows", flows(tally.map(Tally::exempted)));
    fields.put("rangeCount", policy.destinations().size());
    fields.put(
        "ranges",
        status.busiest(family, MOST_RANGES).stream()
            .map(
                each ->
                    pairs(
                        "range",
                        each.range(),
                        "treatment",
                        word(each),
                        "flows",
                        flows(Optional.ofNullable(counters.get(each.range())))))
            .toList());
    // What remains of the ranges when exceptions are cut out of them: what a picture shows.
    fields.put(
        "map",
        AddressMap.of(policy.exempt(), MOST_RANGES).stream()
            .map(block -> pairs("block", block.block(), "exemptRanges", block.ranges()))
            .toList());
    return fields;
  }

  static String word(Destination destination) {
    return destination.treatment() == Treatment.EXEMPT ? "exempt" : "masquerade";
  }

  /** A nat rule counts the first packet of each flow. */
  private static @Nullable Long flows(Optional<Counter> counter) {
    return counter.map(Counter::packets).orElse(null);
  }

  /** What live flows showed. */
  private static Map<String, Object> evidence(Status status) {
    FlowEvidence flows = status.flows();
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("message", flows.line(status.now()));
    fields.put("sampled", flows.flows());
    fields.put("wrong", flows.wrong());
    fields.put("samples", flows.samples().size());
    fields.put("lossySamples", flows.lossy());
    fields.put("since", orNull(flows.since()));
    fields.put("note", orNull(flows.note()));
    fields.put("examples", flows.examples().stream().map(StatusJson::example).toList());
    fields.putAll(flows.answerFields());
    return fields;
  }

  private static Map<String, Object> example(SampledFlow flow) {
    return pairs(
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
        flow.toString());
  }

  private static Map<String, Object> totals(Totals totals) {
    return pairs(
        "passes",
        Totals.sum(totals.syncs()),
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
    Event.What what = event.what();
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("at", event.at());
    fields.put("until", event.until());
    fields.put("times", event.times());
    fields.put("kind", what.kind());
    fields.put("family", orNull(what.family()));
    fields.put("backend", orNull(what.backend()));
    fields.put("message", what.text());
    fields.put(
        "changes",
        what.changes().isEmpty()
            ? List.of()
            : SyncReportJson.changes(
                what.family().orElseThrow(), what.backend().orElseThrow(), what.changes()));
    fields.put("more", what.more());
    fields.put("rule", orNull(what.rule()));
    return fields;
  }

  static String words(Translation translation) {
    String ports =
        translation.ports().stream().map(Object::toString).collect(Collectors.joining(","));
    return translation.addresses().map(a -> "snat to " + a).orElse("masquerade")
        + (ports.isEmpty() ? "" : " with ports " + ports)
        + (translation.randomFully() ? ", ports fully random" : "");
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
