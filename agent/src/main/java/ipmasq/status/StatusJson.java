package ipmasq.status;

import ipmasq.config.Key;
import ipmasq.config.Problem;
import ipmasq.evidence.flows.FlowEvidence;
import ipmasq.evidence.flows.SampledFlow;
import ipmasq.evidence.neighbours.Conflict;
import ipmasq.json.Fields;
import ipmasq.json.Json;
import ipmasq.log.Log;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.plan.Tally;
import ipmasq.plan.Tally.Counter;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Treatment;
import ipmasq.policy.Translation;
import ipmasq.status.Status.Deed;
import ipmasq.status.Status.Standing;
import ipmasq.status.Status.Totals;
import ipmasq.sync.SyncReport;
import ipmasq.sync.SyncReportJson;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The status for scripts and for the page. */
public final class StatusJson {
  /** With more ranges than this only the busiest are listed, but all are counted. */
  static final int MOST_RANGES = 1000;

  private StatusJson() {}

  public static String of(Status status) {
    SyncReport last = status.last();
    Headline headline = status.headline();
    Optional<Status> agent = Optional.of(status).filter(Status::hasPast);
    return Json.write(
        new Fields()
            .with("ok", headline.ok())
            .with("version", status.identity().version())
            .with("node", status.identity().node())
            .with("started", status.identity().started())
            .with("now", status.now())
            .with("ready", status.ready())
            .with("running", status.identity().agent().runs())
            .with("level", headline.level())
            .with("summary", headline.sentence())
            .with("reasons", status.reasons())
            .with("config", config(status, agent))
            .with("backend", last.backend())
            .with("backendReason", last.backendReason())
            .with("lastPass", lastPass(last, agent))
            .with("families", status.enabled().stream().map(it -> family(status, it)).toList())
            .with("conflictsKnown", status.sample().conflicts().isPresent())
            .with("conflicts", status.conflicts().stream().map(Conflict::fields).toList())
            .with("warnings", last.warnings())
            .with("evidence", evidence(status))
            .with("totals", agent.map(it -> totals(it.totals())))
            .with("history", status.history().reversed().stream().map(Log.Line::fields).toList()));
  }

  private static Fields lastPass(SyncReport last, Optional<Status> agent) {
    return new Fields()
        .with("at", last.at())
        .with("duration", SyncReportJson.duration(last.took()))
        .with("trigger", agent.map(_ -> SyncReportJson.trigger(last)))
        .with("fighting", agent.map(_ -> last.fighting()));
  }

  private static Fields config(Status status, Optional<Status> agent) {
    SyncReport last = status.last();
    return new Fields()
        .with("basis", last.basis().word())
        .with(
            "sources",
            last.sources().stream()
                .map(
                    it -> new Fields().with("file", it.path().toString()).with("sha256", it.hash()))
                .toList())
        .with("since", agent.map(Status::configSince))
        .with("resyncInterval", Key.RESYNC_INTERVAL.json(last.config().resyncInterval()))
        .with("problems", last.problems().stream().map(Problem::fields).toList());
  }

  private static Fields family(Status status, Family family) {
    Standing standing = status.standing(family);
    Policy policy = status.policy(family);
    Optional<Tally> tally = status.sample().tally(family);
    Map<Cidr, Counter> counters = tally.map(Tally::ranges).orElse(Map.of());
    return new Fields()
        .with("family", family)
        .with("inForce", standing.rules() == Status.Rules.IN_FORCE)
        .with("since", Optional.of(standing.since()).filter(_ -> status.hasPast()))
        .with(
            "failure",
            standing.failure().map(it -> SyncReportJson.failure(family, standing.backend(), it)))
        .with("shown", status.shown(family).name().toLowerCase(Locale.ROOT))
        .with("sources", policy.sources())
        .with("interfaces", policy.interfaces())
        .with("pinned", policy.pinned())
        .with("translation", words(policy.translation()))
        // A nat rule counts the first packet of each flow.
        .with("translatedFlows", tally.map(it -> it.translated().packets()))
        .with("exemptedFlows", tally.map(it -> it.exempted().packets()))
        .with("rangeCount", policy.destinations().size())
        .with(
            "ranges",
            status.busiest(family, MOST_RANGES).stream()
                .map(
                    it ->
                        new Fields()
                            .with("range", it.range())
                            .with("treatment", word(it.treatment()))
                            .with(
                                "flows",
                                Optional.ofNullable(counters.get(it.range()))
                                    .map(Counter::packets)))
                .toList())
        // What remains of the ranges when exceptions are cut out of them: what a picture shows.
        .with(
            "map",
            AddressMap.of(policy.exempt(), MOST_RANGES).stream()
                .map(it -> new Fields().with("block", it.block()).with("exemptRanges", it.ranges()))
                .toList());
  }

  /** As in JSON and metrics. */
  static String word(Treatment treatment) {
    return switch (treatment) {
      case EXEMPT -> "exempt";
      case TRANSLATE -> "masquerade";
    };
  }

  /** What live flows showed. */
  private static Fields evidence(Status status) {
    FlowEvidence flows = status.flows();
    Fields fields =
        new Fields()
            .with("message", flows.line(status.now()))
            .with("sampled", flows.flows())
            .with("wrong", flows.wrong())
            .with("samples", flows.samples().size())
            .with("lossySamples", flows.lossy())
            .with("since", flows.since())
            .with("note", flows.note())
            .with("examples", flows.examples().stream().map(StatusJson::example).toList());
    fields.putAll(flows.answerFields());
    return fields;
  }

  private static Fields example(SampledFlow flow) {
    return new Fields()
        .with("at", flow.at())
        .with("pod", flow.source())
        .with("destination", flow.destination())
        .with("protocol", flow.protocolName())
        .with("port", Optional.of(flow.port()).filter(port -> port != 0))
        .with("leftAs", flow.leftAs())
        .with("message", flow);
  }

  private static Fields totals(Totals totals) {
    return new Fields()
        .with("passes", totals.allSyncs())
        .with("changes", totals.of(Deed.CHANGE))
        .with("repairs", totals.of(Deed.REPAIR))
        .with("failures", totals.of(Deed.FAILURE))
        .with("rejections", totals.rejections());
  }

  static String words(Translation translation) {
    String ports =
        translation.ports().stream().map(Object::toString).collect(Collectors.joining(","));
    return translation.addresses().map(a -> "snat to " + a).orElse("masquerade")
        + (ports.isEmpty() ? "" : " with ports " + ports)
        + (translation.randomFully() ? ", ports fully random" : "");
  }
}
