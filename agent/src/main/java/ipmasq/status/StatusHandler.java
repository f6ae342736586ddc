package ipmasq.status;

import static java.nio.charset.StandardCharsets.UTF_8;

import ipmasq.evidence.neighbours.Conflict;
import ipmasq.evidence.neighbours.Explanation;
import ipmasq.evidence.neighbours.Question;
import ipmasq.http.Endpoint;
import ipmasq.http.Request;
import ipmasq.http.Response;
import ipmasq.json.Json;
import ipmasq.net.Ip;
import ipmasq.net.Protocols;
import ipmasq.status.Status.Sample;
import ipmasq.sync.Heartbeat;
import ipmasq.sync.SyncReport;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * The routes of the server. Probes are answered at once, on the server's threads; what needs the
 * kernel, by one thread, in turn.
 */
public final class StatusHandler implements Endpoint.Handler {
  /** The header that says whether all is well, so that no reader has to take text apart. */
  public static final String OK = "Ip-Masq-Ok";

  /** The header that names the backend in use. */
  public static final String BACKEND = "Ip-Masq-Backend";

  private static final int QUEUED = 16;

  private final StatusTracker tracker;
  private final KernelSampler sampler;
  private final Function<SyncReport, Optional<List<Conflict>>> conflicts;
  private final Explainer explainer;
  private final Heartbeat heartbeat;
  private final InstantSource clock;
  private final ExecutorService reader =
      new ThreadPoolExecutor(
          1,
          1,
          0,
          TimeUnit.SECONDS,
          new ArrayBlockingQueue<>(QUEUED),
          task -> Thread.ofPlatform().daemon().name("http-status").unstarted(task));

  /** Explains packets, one after the other, on a thread of its own. */
  @FunctionalInterface
  public interface Explainer {
    /** Returns an answer to come; empty if too many questions wait already. */
    Optional<Future<Response>> explain(Question question, Function<Explanation, Response> print);
  }

  /**
   * @param conflicts those last found, without reading; empty before the first time
   */
  public StatusHandler(
      StatusTracker tracker,
      KernelSampler sampler,
      Function<SyncReport, Optional<List<Conflict>>> conflicts,
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
  public Future<Response> handle(Request request) {
    return switch (request.path()) {
      case "/" -> now(Page.response());
      case "/healthz", "/livez" -> now(health());
      case "/readyz" -> now(readiness());
      case "/metrics" ->
          soon(it -> new Response(200, Metrics.TYPE, Metrics.of(it).getBytes(UTF_8), Map.of()));
      case "/api/status" -> soon(it -> marked(it, Response.json(200, StatusJson.of(it))));
      case "/api/status.txt" ->
          soon(it -> marked(it, Response.text(200, StatusText.of(it).strip())));
      case "/api/explain" -> explain(request);
      default -> now(Response.text(404, "there is nothing here"));
    };
  }

  private static Future<Response> now(Response response) {
    return CompletableFuture.completedFuture(response);
  }

  /** Answers from the status and the kernel's current state. */
  private Future<Response> soon(Function<Status, Response> print) {
    try {
      return reader.submit(
          () ->
              tracker
                  .status()
                  .map(this::withKernel)
                  .map(print)
                  .orElseGet(() -> Response.text(503, "the first sync is still under way")));
    } catch (RejectedExecutionException full) {
      return now(Response.text(503, "too many requests wait for the kernel: ask again"));
    }
  }

  private Status withKernel(Status known) {
    Optional<Status.Waiting> waiting = waiting();
    // What a sync waits for would keep this thread waiting too.
    Sample sample = waiting.isPresent() ? Sample.NONE : sampler.read(known);
    // A sync may have ended meanwhile: print the latest.
    return tracker.status().orElse(known).with(sample, waiting, clock.instant());
  }

  private Optional<Status.Waiting> waiting() {
    Instant now = clock.instant();
    return heartbeat
        .waiting()
        .map(it -> new Status.Waiting(now.minus(it.duration()), it.what(), it.tooLong()));
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
    Sample unread = new Sample(Instant.MIN, Map.of(), conflicts.apply(known.get().last()));
    Status status = known.get().with(unread, waiting(), clock.instant());
    if (status.ready()) {
      String ready = status.waiting().isPresent() ? "" : "ready\n";
      return Response.text(200, ready + status.headline().sentence());
    }
    List<String> lines = new ArrayList<>();
    lines.add("not ready: " + String.join("; ", status.reasons()));
    lines.addAll(status.causes());
    return Response.text(503, String.join("\n", lines));
  }

  private static Response marked(Status status, Response response) {
    return response
        .with(OK, String.valueOf(status.headline().ok()))
        .with(BACKEND, status.last().backend());
  }

  private Future<Response> explain(Request request) {
    Optional<Status> status = tracker.status();
    Optional<Ip> to = request.parameter("to").flatMap(Ip::parse);
    Optional<Ip> from = request.parameter("from").flatMap(Ip::parse);
    Optional<String> protocol = request.parameter("proto");
    OptionalInt port = port(request.parameter("port").orElse(""));
    if (to.isEmpty()) {
      return now(error(400, "\"to\" must be an IP address, such as 8.8.8.8 or 2001:db8::1"));
    }
    if (request.parameter("from").isPresent()
        && from.filter(it -> it.family() == to.get().family()).isEmpty()) {
      return now(error(400, "\"from\" must be an IP address of the same family as \"to\""));
    }
    if (protocol.filter(it -> !Protocols.ASKED.contains(it)).isPresent()) {
      return now(error(400, "\"proto\" must be tcp, udp, sctp or icmp"));
    }
    if (request.parameter("port").isPresent() && port.isEmpty()) {
      return now(error(400, "\"port\" must be a number from 1 to 65535"));
    }
    if (status.isEmpty()) {
      return now(Response.text(503, "the first sync is still under way"));
    }
    Question question = new Question(to.get(), from, protocol, port, Optional.empty());
    return explainer
        .explain(question, it -> Response.json(200, Json.write(status.get().with(it).fields())))
        .orElseGet(
            () ->
                now(error(503, "too many questions at once: ask again").with("Retry-After", "2")));
  }

  private static OptionalInt port(String text) {
    int port = text.matches("[0-9]{1,5}") ? Integer.parseInt(text) : 0;
    return port >= 1 && port <= 65535 ? OptionalInt.of(port) : OptionalInt.empty();
  }

  private static Response error(int status, String message) {
    return Response.json(status, Json.write(Map.of("error", message)));
  }
}
