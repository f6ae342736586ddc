package ipmasq.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ipmasq.http.Endpoint;
import ipmasq.http.Request;
import ipmasq.http.Response;
import ipmasq.status.StatusHandler;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ShowStatusTest {
  /** An agent whose rules somebody removes just after it was asked for the first time. */
  private static final class Changing implements Endpoint.Listener {
    private final CompletableFuture<InetSocketAddress> open = new CompletableFuture<>();
    private boolean asked;

    @Override
    public void open(InetSocketAddress where) {
      open.complete(where);
    }

    @Override
    public void shut(InetSocketAddress where, String why) {
      open.completeExceptionally(new IllegalStateException(why));
    }

    private Future<Response> answer(Request request) {
      String ok = String.valueOf(!asked);
      asked = true;
      Response response =
          request.path().endsWith(".txt")
              ? Response.text(200, "ok: " + ok)
              : Response.json(200, "{\"ok\":" + ok + "}");
      return CompletableFuture.completedFuture(response.with(StatusHandler.OK, ok));
    }
  }

  @Test
  void theExitCodeIsThatOfWhatIsPrinted() throws Exception {
    assertEquals(new InProcess.Answer(Main.OK, "ok: true\n", ""), status("text"));
    assertEquals(new InProcess.Answer(Main.OK, "{\"ok\":true}\n", ""), status("json"));
  }

  private static InProcess.Answer status(String output) throws Exception {
    Changing agent = new Changing();
    InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try (Endpoint _ =
        Endpoint.start(anyPort, Endpoint.Limits.USUAL, Set.of(), agent::answer, agent)) {
      InetSocketAddress where = agent.open.get(10, TimeUnit.SECONDS);
      return InProcess.answer(
          "status", "--listen=127.0.0.1:" + where.getPort(), "--output=" + output);
    }
  }
}
