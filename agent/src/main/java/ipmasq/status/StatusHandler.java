package ipmasq.status;

import ipmasq.evidence.neighbours.Conflict;
import ipmasq.evidence.neighbours.Explanation;
import ipmasq.evidence.neighbours.Question;
import ipmasq.http.Handler;
import ipmasq.http.Request;
import ipmasq.http.Response;
import ipmasq.json.Json;
import ipmasq.net.Ip;
import ipmasq.net.Protocols;
import ipmasq.sync.Heartbeat;
import ipmasq.sync.SyncReport;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The routes of the server. Probes are answered at once, on the server's threads; what needs the
 * kernel, by one thread, in turn.
 */
public final class StatusHandler implements Handler {
  /** The header that says whether all is well, so that no reader has to take text apart. */
  public static final String OK = "Ip-Masq-Ok";

  private static final int BUSIEST_RANGES = 8;
  private static final int WAITING = 16;

  private final StatusTracker tracker;
  private final KernelSampler sampler;
  private final KnownConflicts conflicts;
  private final Explainer explainer;
  private final Heartbeat heartbeat;
  private final InstantSource clock;
  private final Executor readers =
      new ThreadPoolExecutor(
          1,
          1,
          0,
          TimeUnit.SECONDS,
          new ArrayBlockingQueue<>(WAITING),
          task -> Thread.ofPlatform().daemon().name("http-status").unstarted(task));

  /** What is known of other programs' rules, without looking at them. */
  @FunctionalInterface
  public interface KnownConflicts {
    /** As last found; empty before the first look. */
    Optional<List<Conflict>> of(SyncReport report);
  }

  /** Explains packets, one after the other, on a thread of its own. */
  @FunctionalInterface
  public interface Explainer {
    /**
     * @param cancelled whether nobody waits any more: then there is no answer
     * @return false if too many questions wait already
     */
    boolean explain(Question question, BooleanSupplier cancelled, Consumer<Explanation> answer);
  }

  public StatusHandler(
      StatusTracker tracker,
      KernelSampler sampler,
      KnownConflicts conflicts,
      Explainer explainer,
      Heartbeat heartbeat,
      InstantSource clock) {
    this.tracker = tracker;
    this.sampler = sampler;
    this.conflicts = conflicts;
    this.explainer = explainer;
    this.heartbeat = heartbeat;
    this.clock = clock;
  }

  @Override
  public void handle(Request request, Consumer<Response> answer) {
    switch (request.path()) {
      case "/", "/healthz", "/livez", "/readyz" -> answer.accept(answer(request));
      case "/api/explain" -> explain(request, answer);
      default -> {
        try {
          readers.execute(
              () -> {
                if (!request.cancelled()) {
                  answer.accept(answerAnyway(request));
                }
              });
        } catch (RejectedExecutionException full) {
          answer.accept(Response.text(503, "too many requests wait for the kernel: ask again"));
        }
      }
    }
  }

  private Response answerAnyway(Request request) {
    try {
      return answer(request);
    } catch (RuntimeException bug) {
      return Response.text(500, "this should not have happened: " + bug);
    }
  }

  private Response answer(Request request) {
    return switch (request.path()) {
      case "/" -> Page.response();
      case "/healthz", "/livez" -> health();
      case "/readyz" -> readiness();
      case "/metrics" -> status(StatusHandler::metrics);
      case "/api/status" ->
          status(status -> marked(status, Response.json(200, StatusJson.of(status))));
      case "/api/status.txt" ->
          status(status -> marked(status, Response.text(200, StatusText.of(status).strip())));
      case "/api/flows" -> status(this::flows);
      default -> Response.text(404, "there is nothing here");
    };
  }

  private Response health() {
    return heartbeat
        .stuck()
        .map(why -> Response.text(503, why))
        .orElseGet(() -> Response.text(200, "ok"));
  }

  /** Whether it is ready is about our own rules; the sentence is the one that status prints. */
  private Response readiness() {
    Optional<Status> known = tracker.status();
    if (known.isEmpty()) {
      return Response.text(503, "not ready: the first sync is still under way");
    }
    Status status = known.get().with(KernelSampler.Sample.NONE, waiting(), clock.instant());
    if (status.ready()) {
      Headline headline = Headline.of(status, List.of(), conflicts.of(status.last()));
      String ready = status.waiting().isPresent() ? "" : "ready\n";
      return Response.text(200, ready + headline.sentence());
    }
    List<String> lines = new ArrayList<>();
    lines.add("not ready: " + String.join("; ", status.reasons()));
    lines.addAll(status.causes());
    return Response.text(503, String.join("\n", lines));
  }

  /** Answers from the status and the kernel's current state. */
  private Response status(Function<Status, Response> print) {
    Optional<Status> known = tracker.status();
    if (known.isEmpty()) {
      return Response.text(503, "the first sync is still under way");
    }
    Optional<Status.Waiting> waiting = waiting();
    // What a sync waits for would keep this thread waiting too.
    KernelSampler.Sample sample =
        waiting.isPresent() ? KernelSampler.Sample.NONE : sampler.read(known.get().last());
    // A sync may have ended meanwhile: print the latest.
    return print.apply(tracker.status().orElseThrow().with(sample, waiting, clock.instant()));
  }

  private Optional<Status.Waiting> waiting() {
    return heartbeat
        .waiting()
        .map(
            wait ->
                new Status.Waiting(
                    clock.instant().minus(wait.duration()), wait.what(), wait.tooLong()));
  }

  private static Response metrics(Status status) {
    byte[] text = Metrics.of(status).getBytes(StandardCharsets.UTF_8);
    return new Response(200, Exposition.TYPE, text, Map.of());
  }

  private static Response marked(Status status, Response response) {
    return response.with(OK, String.valueOf(status.headline().ok()));
  }

  private Response flows(Status status) {
    return sampler
        .hour(BUSIEST_RANGES)
        .map(hour -> Response.json(200, Json.write(hour.fields(status.now()))))
        .orElseGet(() -> Response.json(503, Json.write(Map.of("error", "nothing is counted"))));
  }

  private void explain(Request request, Consumer<Response> answer) {
    Optional<Response> refused = refusal(request);
    Optional<Status> status = tracker.status();
    if (refused.isPresent() || status.isEmpty()) {
      answer.accept(
          refused.orElseGet(() -> Response.text(503, "the first sync is still under way")));
      return;
    }
    Question question =
        new Question(
            Ip.of(request.parameter("to").orElse("").strip()),
            Ip.parse(request.parameter("from").orElse("").strip()),
            request.parameter("proto").map(String::strip).filter(text -> !text.isEmpty()),
            port(request.parameter("port").orElse("").strip()),
            Optional.empty());
    boolean taken =
        explainer.explain(
            question,
            request::cancelled,
            found ->
                answer.accept(Response.json(200, Json.write(status.get().with(found).fields()))));
    if (!taken) {
      answer.accept(
          Response.json(503, Json.write(Map.of("error", "too many questions at once: ask again")))
              .with("Retry-After", "2"));
    }
  }

  /** Why a question cannot be answered. */
  private static Optional<Response> refusal(Request request) {
    Optional<Ip> to = request.parameter("to").flatMap(text -> Ip.parse(text.strip()));
    String fromText = request.parameter("from").orElse("").strip();
    Optional<Ip> from = Ip.parse(fromText);
    Optional<String> protocol =
        request.parameter("proto").map(String::strip).filter(text -> !text.isEmpty());
    String portText = request.parameter("port").orElse("").strip();
    OptionalInt port = port(portText);
    if (to.isEmpty()) {
      return Optional.of(wrong("\"to\" must be an IP address, such as 8.8.8.8 or 2001:db8::1"));
    }
    if (!fromText.isEmpty() && from.filter(ip -> ip.family() == to.get().family()).isEmpty()) {
      return Optional.of(wrong("\"from\" must be an IP address of the same family as \"to\""));
    }
    if (protocol.filter(p -> !Protocols.ASKED.contains(p)).isPresent()) {
      return Optional.of(wrong("\"proto\" must be tcp, udp, sctp or icmp"));
    }
    if (!portText.isEmpty() && port.isEmpty()) {
      return Optional.of(wrong("\"port\" must be a number from 1 to 65535"));
    }
    return Optional.empty();
  }

  private static OptionalInt port(String text) {
    try {
      int port = Integer.parseInt(text);
      return port >= 1 && port <= 65535 ? OptionalInt.of(port) : OptionalInt.empty();
    } catch (NumberFormatException notOne) {
      return OptionalInt.empty();
    }
  }

  private static Response wrong(String message) {
    return Response.json(400, Json.write(Map.of("error", message)));
  }
}
