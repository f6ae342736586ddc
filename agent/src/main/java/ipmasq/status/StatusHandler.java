package ipmasq.status;

import ipmasq.hook.Conflict;
import ipmasq.http.Handler;
import ipmasq.http.Request;
import ipmasq.http.Response;
import ipmasq.json.Json;
import ipmasq.loop.Heartbeat;
import ipmasq.loop.Pass;
import ipmasq.net.Ip;
import ipmasq.net.Protocols;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The routes of the server. Called on the server's thread, which must not wait. */
public final class StatusHandler implements Handler {
  /** The header that says whether all is well, so that no reader has to take text apart. */
  public static final String OK = "Ip-Masq-Ok";

  private static final int BUSIEST_RANGES = 8;
  private final StatusTracker tracker;
  private final CounterSampler sampler;
  private final KnownConflicts conflicts;
  private final Heartbeat heartbeat;
  private final InstantSource clock;
  private @Nullable Response page;
  private @Nullable Rendered rendered;

  /** What is known of other programs' rules, without looking at them. */
  @FunctionalInterface
  public interface KnownConflicts {
    /** As last found; empty before the first look. */
    Optional<List<Conflict>> of(Pass pass);
  }

  /** The status as bytes, shared by all requests until it changes. */
  private record Rendered(Status status, CounterSampler.Sample sample, Response response) {}

  public StatusHandler(
      StatusTracker tracker,
      CounterSampler sampler,
      KnownConflicts conflicts,
      Heartbeat heartbeat,
      InstantSource clock) {
    this.tracker = tracker;
    this.sampler = sampler;
    this.conflicts = conflicts;
    this.heartbeat = heartbeat;
    this.clock = clock;
  }

  @Override
  public void handle(Request request, Consumer<Response> answer) {
    switch (request.path()) {
      case "/" -> answer.accept(page());
      case "/healthz", "/livez" -> answer.accept(health());
      case "/readyz" -> answer.accept(readiness());
      case "/metrics" -> view(answer, this::metrics);
      case "/api/status" -> view(answer, this::status);
      case "/api/status.txt" -> view(answer, StatusHandler::text);
      case "/api/flows" -> view(answer, this::flows);
      case "/api/explain" -> explain(request, answer);
      default -> answer.accept(Response.text(404, "there is nothing here"));
    }
  }

  private Response page() {
    if (page == null) {
      page = Page.response();
    }
    return page;
  }

  private Response health() {
    return heartbeat
        .stuck()
        .map(why -> Response.text(503, why))
        .orElseGet(() -> Response.text(200, "ok"));
  }

  /** Whether it is ready is about our own rules; the sentence is the one that status prints. */
  private Response readiness() {
    Optional<Status> status = tracker.status();
    if (status.isEmpty()) {
      return Response.text(503, "not ready: the first pass is still under way");
    }
    if (status.get().ready()) {
      State state =
          conflicts
              .of(status.get().last())
              .map(known -> State.of(status.get(), List.of(), known))
              .orElseGet(() -> State.withoutOthers(status.get()));
      return Response.text(200, "ready\n" + state.sentence());
    }
    List<String> lines = new ArrayList<>();
    lines.add("not ready: " + String.join("; ", status.get().reasons()));
    lines.addAll(status.get().causes());
    return Response.text(503, String.join("\n", lines));
  }

  /** Answers from the status and the kernel's current state, once that is read. */
  private void view(Consumer<Response> answer, Function<View, Response> how) {
    view(answer, how, Runnable::run);
  }

  private void view(Consumer<Response> answer, Function<View, Response> how, Executor executor) {
    Optional<Status> status = tracker.status();
    if (status.isEmpty()) {
      answer.accept(Response.text(503, "the first pass is still under way"));
      return;
    }
    sampler.read(
        status.get().last(),
        sample -> {
          // The sampler may have waited for a pass to end: use the latest status.
          Status latest = tracker.status().orElseThrow();
          View view = new View(latest, sample, clock.instant());
          executor.execute(() -> answer.accept(answer(how, view)));
        });
  }

  /** On the sampler's thread, which must outlive a bug. */
  private static Response answer(Function<View, Response> how, View view) {
    try {
      return how.apply(view);
    } catch (RuntimeException bug) {
      return Response.text(500, "this should not have happened");
    } catch (OutOfMemoryError full) {
      return Response.text(503, "out of memory");
    }
  }

  private Response metrics(View view) {
    Usage usage = Usage.now(view.status().identity().started());
    return new Response(
        200, Exposition.TYPE, Metrics.of(view, usage).getBytes(StandardCharsets.UTF_8), Map.of());
  }

  private static Response text(View view) {
    return told(view, Response.text(200, StatusText.of(view).stripTrailing()));
  }

  private static Response told(View view, Response response) {
    return response.with(OK, String.valueOf(view.state().ok()));
  }

  @SuppressWarnings("ReferenceEquality") // to compare them whole would cost what this saves
  private synchronized Response status(View view) {
    Rendered known = rendered;
    if (known == null || known.status != view.status() || known.sample != view.sample()) {
      Response json = told(view, Response.json(200, StatusJson.of(view)));
      known = new Rendered(view.status(), view.sample(), json);
      rendered = known;
    }
    return known.response;
  }

  private Response flows(View view) {
    return sampler
        .hour(BUSIEST_RANGES)
        .map(hour -> Response.json(200, Json.write(hour.fields(view.now()))))
        .orElseGet(() -> Response.json(503, Json.write(Map.of("error", "nothing is counted"))));
  }

  private void explain(Request request, Consumer<Response> answer) {
    Optional<Ip> to = request.parameter("to").flatMap(text -> Ip.parse(text.strip()));
    if (to.isEmpty()) {
      answer.accept(wrong("\"to\" must be an IP address, such as 8.8.8.8 or 2001:db8::1"));
      return;
    }
    String fromText = request.parameter("from").orElse("").strip();
    Optional<Ip> from = Ip.parse(fromText);
    if (!fromText.isEmpty() && from.filter(ip -> ip.family() == to.get().family()).isEmpty()) {
      answer.accept(wrong("\"from\" must be an IP address of the same family as \"to\""));
      return;
    }
    Optional<String> protocol =
        request.parameter("proto").map(String::strip).filter(text -> !text.isEmpty());
    String portText = request.parameter("port").orElse("").strip();
    OptionalInt port = port(portText);
    if (protocol.filter(p -> !Protocols.ASKED.contains(p)).isPresent()) {
      answer.accept(wrong("\"proto\" must be tcp, udp, sctp or icmp"));
    } else if (!portText.isEmpty() && port.isEmpty()) {
      answer.accept(wrong("\"port\" must be a number from 1 to 65535"));
    } else {
      ExplainRequest question =
          new ExplainRequest(to.get(), from, protocol, port, Optional.empty());
      // On its own thread, because it may list the rules of thousands of services.
      view(
          answer,
          view -> Response.json(200, Json.write(view.explain(question).fields())),
          work -> Thread.ofPlatform().daemon().name("explain").start(work));
    }
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
