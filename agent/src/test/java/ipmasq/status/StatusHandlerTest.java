package ipmasq.status;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.config.Config;
import ipmasq.config.Config.BackendChoice;
import ipmasq.config.Key;
import ipmasq.evidence.neighbours.Conflict;
import ipmasq.http.Request;
import ipmasq.http.Response;
import ipmasq.log.LogEvent;
import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.output.OutputSchema;
import ipmasq.sync.SyncReport.Basis;
import ipmasq.sync.Trigger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class StatusHandlerTest {
  private static final Map<String, String> SCHEMA =
      Map.of(
          "/api/status", "statusOutput",
          "/api/explain", "explainApiOutput");

  private final Story story = new Story();
  private final AtomicInteger looks = new AtomicInteger();
  private final AtomicInteger hookLooks = new AtomicInteger();
  private boolean busy;
  private @Nullable List<Conflict> known = List.of();
  private final KernelSampler sampler =
      new KernelSampler(
          (pass, family) -> {
            looks.incrementAndGet();
            return story.look(pass, family);
          },
          pass -> {
            hookLooks.incrementAndGet();
            return story.conflicts(pass);
          },
          story::now,
          story::nanos);
  private final StatusHandler handler =
      new StatusHandler(
          story.tracker,
          sampler,
          _ -> Optional.ofNullable(known),
          (question, print) -> busy ? Optional.empty() : story.explain(question, print),
          story.heartbeat,
          story::now);

  private Response ask(String path, Map<String, String> query) throws Exception {
    Response response = handler.handle(new Request(path, query, false)).get(10, TimeUnit.SECONDS);
    if (response.type().startsWith("application/json")) {
      OutputSchema.check(SCHEMA.get(path), body(response));
    }
    return response;
  }

  private static String body(Response response) {
    return new String(response.body(), StandardCharsets.UTF_8);
  }

  private void expect(int status, String text, String path) throws Exception {
    Response response = ask(path, Map.of());
    assertEquals(text + "\n", body(response));
    assertEquals(status, response.status());
  }

  @Test
  void beforeTheFirstPassItIsAliveAndNotReady() throws Exception {
    expect(200, "ok", "/healthz");
    expect(503, "not ready: the first sync is still under way", "/readyz");
    expect(503, "the first sync is still under way", "/api/status");
  }

  @Test
  void saysWhyItIsNotReady() throws Exception {
    story.pass(Trigger.START, Story.unchanged());
    expect(
        200, "ready\nIPv4 masquerading is in force, as /etc/config/ip-masq-agent says.", "/readyz");
    story.bad(Basis.LAST_GOOD).pass(Trigger.CONFIG, Story.failed());
    expect(
        503,
        """
        not ready: the config file is bad, so the last good one stays in force; the IPv4 rules\
         could not be put in force
        /etc/config/ip-masq-agent:3:5: error: CIDR "10.0.0.1/8" is not aligned to a CIDR block\
         (write 10.0.0.0/8)
        iptables-restore failed: <b>Resource</b> "temporarily": try & wait""",
        "/readyz");
  }

  /** A probe never waits for a look, so it says no more than is known. */
  @Test
  void aProbeSaysOnlyWhatIsKnownOfOtherRules() throws Exception {
    story.pass(Trigger.START, Story.unchanged());
    known = null;
    expect(200, "ready\nIPv4 masquerading is set up as /etc/config/ip-masq-agent says.", "/readyz");
    known = List.of(HeadlineTest.conflict(Conflict.Kind.MASQUERADES));
    expect(
        200,
        "ready\nIPv4 masquerading is set up as /etc/config/ip-masq-agent says, but a rule of"
            + " flannel masquerades packets from 10.244.0.0/16 that the config exempts (to"
            + " 10.0.0.0/8).",
        "/readyz");
    assertEquals(0, looks.get() + hookLooks.get());
  }

  @Test
  void aLoopThatHangsIsNotHealthy() throws Exception {
    story.pass(Trigger.START, Story.failed());
    story.heartbeat.beat(Duration.ofSeconds(60));
    story.passes(60 + 119);
    expect(200, "ok", "/healthz");
    story.passes(1);
    Response stuck = ask("/healthz", Map.of());
    assertEquals(503, stuck.status());
    assertTrue(body(stuck).startsWith("no progress for 180 s"), body(stuck));
    assertEquals(1, body(stuck).lines().count());
  }

  /** A sync that hangs is part of the present, and nobody waits for what it waits for. */
  @Test
  void aSyncThatTakesLongIsSaidAndThenNotReady() throws Exception {
    story.pass(Trigger.START, Story.unchanged());
    story.heartbeat.beat(Duration.ZERO);
    story.passes(4);
    expect(200, "Not known since 2026-01-01T12:00:01Z: a sync is under way.", "/readyz");
    String status = body(ask("/api/status", Map.of()));
    assertTrue(status.contains("\"level\":\"warn\",\"summary\":\"Not known since "), status);
    assertTrue(status.contains("\"shown\":\"config\""), status);
    assertEquals(0, looks.get() + hookLooks.get());
    story.passes(6);
    expect(503, "not ready: not known since 2026-01-01T12:00:01Z: a sync is under way", "/readyz");
    assertTrue(body(ask("/metrics", Map.of())).contains("\nip_masq_agent_ready 0\n"));
  }

  @Test
  void tellsEverythingAsJson() throws Exception {
    story.config =
        Config.defaults()
            .with(Key.NON_MASQUERADE_CIDRS, Cidrs.copyOf(List.of(Cidr.of("10.0.0.0/8"))))
            .with(Key.MASQUERADE_CIDRS, Cidrs.copyOf(List.of(Cidr.of("10.1.0.0/16"))));
    story.pass(Trigger.START, Story.changed("10.0.0.0/8"));
    story.bad(Basis.LAST_GOOD).pass(Trigger.CONFIG, Story.unchanged());
    assertEquals(
        """
        {"ok":false,"version":"1.2.3","node":"node-a","started":"2026-01-01T12:00:00Z",\
        "now":"2026-01-01T12:00:02Z","ready":false,"running":true,"level":"bad","summary":"Not ready: the config file is bad, so\
         the last good one stays in force.","reasons":["the config file is bad, so the last good one\
         stays in force"],\
        "config":{"basis":"last-good","sources":[{"file":"/etc/config/ip-masq-agent",\
        "sha256":"74f4114516600398687f46f9e01a0430fe61246ff578e92b8ba4bb596dd73768"}],"since":"2026-01-01T12:00:01Z","resyncInterval":"60s",\
        "problems":[{"severity":"error","file":"/etc/config/ip-masq-agent","line":3,"column":5,\
        "message":"CIDR \\"10.0.0.1/8\\" is not aligned to a CIDR block",\
        "hint":"write 10.0.0.0/8"}]},"backend":"iptables-nft","backendReason":"the default",\
        "lastPass":{"at":"2026-01-01T12:00:02Z","duration":0.03,"trigger":"config","fighting":false},\
        "families":[{"family":"IPv4","inForce":true,"since":"2026-01-01T12:00:01Z","failure":null,"shown":"happens",\
        "sources":[],"interfaces":[],"pinned":false,"translation":"masquerade, ports fully random",\
        "translatedFlows":7,"exemptedFlows":9,"rangeCount":3,"ranges":[\
        {"range":"10.1.0.0/16","treatment":"masquerade","flows":1},\
        {"range":"169.254.0.0/16","treatment":"exempt","flows":2},\
        {"range":"10.0.0.0/8","treatment":"exempt","flows":3}],\
        "map":[{"block":"10.0.0.0/16","exemptRanges":1},{"block":"10.2.0.0/15","exemptRanges":1},\
        {"block":"10.4.0.0/14","exemptRanges":1},{"block":"10.8.0.0/13","exemptRanges":1},\
        {"block":"10.16.0.0/12","exemptRanges":1},{"block":"10.32.0.0/11","exemptRanges":1},\
        {"block":"10.64.0.0/10","exemptRanges":1},{"block":"10.128.0.0/9","exemptRanges":1},\
        {"block":"169.254.0.0/16","exemptRanges":1}]}],\
        "conflictsKnown":true,"conflicts":[],"warnings":[],"evidence":{"message":"none sampled yet","sampled":0,"wrong":0,"samples":0,\
        "lossySamples":0,"since":null,"note":"none sampled yet","examples":[],"answers":[],"changed":[],"table":null,"probationUntil":null},"totals":{"passes":2,"changes":1,"repairs":0,"failures":0,"rejections":1},\
        "history":[{"time":"2026-01-01T12:00:02.000Z","level":"WARN","event":"config-bad",\
        "message":"the config file is bad: the last good one stays in force","basis":"last-good"},\
        {"time":"2026-01-01T12:00:02.000Z","level":"ERROR","event":"config-problem",\
        "message":"/etc/config/ip-masq-agent:3:5: CIDR \\"10.0.0.1/8\\" is not aligned to a CIDR block\
         (write 10.0.0.0/8)","problem":{"severity":"error","file":"/etc/config/ip-masq-agent","line":3,\
        "column":5,"message":"CIDR \\"10.0.0.1/8\\" is not aligned to a CIDR block",\
        "hint":"write 10.0.0.0/8"}}]}
        """,
        body(ask("/api/status", Map.of())).replaceFirst(",\\{[^{]*\"event\":\"in-force\".*", "]}"));
  }

  @Test
  void looksAtTheKernelOnceASecondHoweverManyAsk() throws Exception {
    story.pass(Trigger.START, Story.unchanged());
    for (int i = 0; i < 100; i++) {
      assertEquals(200, ask("/metrics", Map.of()).status());
    }
    assertEquals(1, looks.get());
    story.passes(2);
    ask("/api/status", Map.of());
    assertEquals(2, looks.get());
  }

  @Test
  void aConflictThatIsToldIsInTheNextAnswer() throws Exception {
    story.pass(Trigger.START, Story.unchanged());
    assertTrue(body(ask("/api/status", Map.of())).contains("\"conflicts\":[]"));
    story.quiet = false;
    story.log.warn(LogEvent.of(LogEvent.Kind.CONFLICT, "conflict"));
    String status = body(ask("/api/status", Map.of()));
    assertTrue(status.contains("\"owner\":\"flannel\""), status);
  }

  @Test
  void answersWhatHappensToAPacket() throws Exception {
    story.pass(Trigger.START, Story.unchanged());
    String exempt = body(ask("/api/explain", Map.of("to", "10.1.2.3")));
    assertTrue(exempt.contains("\"wanted\":\"kept\",\"actual\":null"), exempt);
    assertTrue(exempt.contains("\"range\":\"10.0.0.0/8\""), exempt);
    String out = body(ask("/api/explain", Map.of("to", "8.8.8.8", "from", "10.1.1.1")));
    assertTrue(out.contains("\"wanted\":\"translated\",\"actual\":null"), out);
    assertTrue(exempt.contains("\"pinned\":false"), exempt);
    story
        .configured(Config.defaults().with(Key.BACKEND, BackendChoice.NFTABLES).with(Key.PIN, true))
        .pass(Trigger.CONFIG, Story.changed("pinned"));
    String pinned = body(ask("/api/explain", Map.of("to", "10.1.2.3")));
    assertTrue(pinned.contains("\"pinned\":true"), pinned);
    assertTrue(pinned.contains("and pinned: no later chain masquerades it"), pinned);
    String absent = body(ask("/api/explain", Map.of("to", "2001:db8::1")));
    assertTrue(absent.contains("this agent has no rules for IPv6"), absent);
  }

  @Test
  void namesRulesOfOthersThatDecideAgainstUs() throws Exception {
    story.quiet = false;
    story.pass(Trigger.START, Story.unchanged());
    String status = body(ask("/api/status", Map.of()));
    assertTrue(status.contains("\"ready\":true,\"running\":true,\"level\":\"bad\""), status);
    assertTrue(
        status.contains("\"kind\":\"masquerades\",\"severity\":\"warning\",\"owner\":\"flannel\""),
        status);
    String metrics = body(ask("/metrics", Map.of()));
    assertTrue(
        metrics.contains(
            "ip_masq_agent_conflicts{family=\"IPv4\",kind=\"masquerades\",owner=\"flannel\"} 1\n"),
        metrics);
    String text = body(ask("/api/status.txt", Map.of()));
    assertTrue(
        text.contains(
            """
            Other rules
              IPv4: a rule of flannel masquerades packets from 10.244.0.0/16 that the config\
             exempts (to 10.0.0.0/8): iptables-nft POSTROUTING: -s 10.244.0.0/16 -j MASQUERADE;\
             start flanneld without --ip-masq, which leaves masquerading to this agent
            """),
        text);
  }

  @Test
  void tooManyQuestionsComeBackLater() throws Exception {
    story.pass(Trigger.START, Story.unchanged());
    busy = true;
    Response response = ask("/api/explain", Map.of("to", "8.8.8.8"));
    assertEquals(503, response.status());
    assertEquals("2", response.headers().get("Retry-After"));
    busy = false;
    assertEquals(200, ask("/api/explain", Map.of("to", "8.8.8.8")).status());
  }

  @Test
  void aHeaderSaysWhetherAllIsWell() throws Exception {
    story.pass(Trigger.START, Story.unchanged());
    assertEquals(List.of("true", "true"), headers());
    story.pass(Trigger.RESYNC, Story.failed());
    assertEquals(List.of("false", "false"), headers());
  }

  private List<String> headers() throws Exception {
    return List.of(
        ask("/api/status", Map.of()).headers().get(StatusHandler.OK),
        ask("/api/status.txt", Map.of()).headers().get(StatusHandler.OK));
  }

  @Test
  void refusesWhatIsNoAddress() throws Exception {
    story.pass(Trigger.START, Story.unchanged());
    for (Map<String, String> query :
        List.of(
            Map.<String, String>of(),
            Map.of("to", "<script>"),
            Map.of("to", "8.8.8.8", "from", "x"),
            Map.of("to", "8.8.8.8", "from", "::1"),
            Map.of("to", "8.8.8.8", "proto", "<script>"),
            Map.of("to", "8.8.8.8", "port", "0"))) {
      Response response = ask("/api/explain", query);
      assertEquals(400, response.status());
      assertFalse(body(response).contains("<script>"));
    }
    assertEquals(404, ask("/<script>", Map.of()).status());
    assertFalse(body(ask("/<script>", Map.of())).contains("script"));
  }

  @Test
  void thePageRunsItsOwnScriptAndNoOther() throws Exception {
    Response page = ask("/", Map.of());
    String policy = page.headers().get("Content-Security-Policy");
    assertTrue(policy.contains("default-src 'none'"), policy);
    assertTrue(policy.contains("script-src 'sha256-"), policy);
    assertFalse(policy.contains("unsafe"), policy);
    String html = body(page);
    assertEquals(2, html.split("<script>", -1).length, "one script, so that one digest is enough");
    assertFalse(html.contains("style=\""), "the policy forbids style attributes");
    assertFalse(html.contains("http:/") || html.contains("https:/"), "nothing from elsewhere");
  }
}
