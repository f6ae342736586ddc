package ipmasq.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.http.Endpoint.Limits;
import ipmasq.testkit.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What any client may do to the server, and what it must not achieve. */
@Timeout(60)
class HttpTest {
  private static final Limits LIMITS = new Limits(8, Duration.ofMillis(1500));
  private static final Set<String> NAMES = Set.of("x", "a");
  private static final InetSocketAddress ANY_PORT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  private final Told told = new Told();
  private Endpoint endpoint;
  private InetSocketAddress server;

  /** What the endpoint said of itself. */
  private static final class Told implements Endpoint.Listener {
    final BlockingQueue<Object> news = new ArrayBlockingQueue<>(10);

    @Override
    public void open(InetSocketAddress where) {
      news.add(where);
    }

    @Override
    public void shut(InetSocketAddress where, String why) {
      news.add(why);
    }

    Object next() throws InterruptedException {
      return Optional.ofNullable(news.poll(10, TimeUnit.SECONDS)).orElseThrow();
    }
  }

  /** Says what it understood; /never does not answer, /bug throws, /big is eight megabytes. */
  private static Future<Response> handle(Request request) {
    CompletableFuture<Response> answer = new CompletableFuture<>();
    switch (request.path()) {
      case "/never" -> {}
      case "/bug" -> throw new IllegalStateException("a bug");
      case "/error" -> throw new AssertionError("a bug");
      case "/failed" -> answer.completeExceptionally(new IllegalStateException("a bug"));
      case "/later" ->
          Thread.ofPlatform().start(() -> answer.complete(Response.text(200, "later")));
      case "/big" -> answer.complete(Response.text(200, "x".repeat(8 << 20)));
      default -> answer.complete(Response.text(200, request.path() + " " + request.query()));
    }
    return answer;
  }

  @BeforeEach
  void start() throws InterruptedException {
    endpoint = Endpoint.start(ANY_PORT, LIMITS, NAMES, HttpTest::handle, told);
    server = (InetSocketAddress) told.next();
  }

  @AfterEach
  void stop() {
    endpoint.close();
  }

  private Client client() throws IOException {
    return new Client(server);
  }

  @Test
  void answersWithLengthAndHeadersThatKeepBrowsersFromGuessing() throws IOException {
    String answer = Client.get(server, "/a%20b?x=1%2B1&y=c+d&z");
    assertTrue(answer.startsWith("HTTP/1.1 200 OK\r\n"), answer);
    assertTrue(answer.contains("X-Content-Type-Options: nosniff\r\n"), answer);
    assertTrue(answer.contains("Connection: close\r\n"), answer);
    assertTrue(answer.contains("\r\n\r\n/a b {"), answer);
    assertTrue(answer.contains("x=1+1") && answer.contains("y=c d") && answer.contains("z="));
  }

  @Test
  void servesOneRequestPerConnection() throws IOException {
    try (Client client = client()) {
      String all = client.say("GET /later HTTP/1.1\r\nHost: x\r\n\r\n".repeat(3)).hear();
      assertTrue(all.contains("Connection: close\r\n"), all);
      assertEquals(2, all.split("later\n", -1).length, all);
    }
  }

  @Test
  void headHasTheSameHeadersAndNoBody() throws IOException {
    try (Client client = client()) {
      String answer = client.say("HEAD /1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").hear();
      assertTrue(answer.contains("Content-Length: 6\r\n"), answer);
      assertTrue(answer.endsWith("\r\n\r\n"), answer);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "400, 'nonsense\r\n\r\n'",
    "400, '\r\n\r\n'",
    "400, 'GET /\r\n\r\n'",
    "400, 'GET / HTTP/1.1\r\n\r\n'",
    "400, 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'",
    "400, 'GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n'",
    "400, 'GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n'",
    "400, 'GET / HTTP/1.1\r\nHost: a\r\n: no name\r\n\r\n'",
    "400, 'GET / HTTP/1.1\r\nHost: a\u0001b\r\n\r\n'",
    "400, 'GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n'",
    "400, 'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello'",
    "400, 'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n'",
    "400, 'GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'",
    "400, 'GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n'",
    "400, 'GET /%4 HTTP/1.1\r\nHost: a\r\n\r\n'",
    "400, 'GET elsewhere HTTP/1.1\r\nHost: a\r\n\r\n'",
    "400, 'G<T / HTTP/1.1\r\nHost: a\r\n\r\n'",
    "400, '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\r\n'",
    "405, 'POST / HTTP/1.1\r\nHost: a\r\n\r\n'",
    "405, 'TRACE / HTTP/1.1\r\nHost: a\r\n\r\n'",
    "505, 'PRI * HTTP/2.0\r\n\r\n'",
    "500, 'GET /bug HTTP/1.0\r\n\r\n'",
    "500, 'GET /error HTTP/1.0\r\n\r\n'",
    "500, 'GET /failed HTTP/1.0\r\n\r\n'",
    "400, 'GET http://elsewhere/x HTTP/1.1\r\nHost: a\r\n\r\n'",
    "400, 'GET /a b HTTP/1.1\r\nHost: a\r\n\r\n'",
    "200, 'GET / HTTP/1.0\r\n\r\n'",
    "200, 'GET / HTTP/1.0\n\n'",
    "503, 'GET /never HTTP/1.0\r\n\r\n'",
    "408, 'GET / HTTP/1.1\r\nHost:'",
  })
  void answersWhatItMust(int status, String request) throws IOException {
    try (Client client = client()) {
      String answer = client.say(request).hear();
      assertTrue(answer.startsWith("HTTP/1.1 " + status + " "), answer);
      assertTrue(answer.contains("Connection: close"), answer);
    }
  }

  @Test
  void refusesLinesAndHeadersBeyondTheirLimit() throws IOException {
    String most = "/" + "x".repeat(4096 - "GET / HTTP/1.1".length());
    assertTrue(Client.get(server, most).startsWith("HTTP/1.1 200"));
    assertTrue(Client.get(server, most + "x").startsWith("HTTP/1.1 414"));
    try (Client client = client()) {
      client.say("GET / HTTP/1.1\r\nHost: x\r\nA: " + "b".repeat(8192));
      assertTrue(client.hear().startsWith("HTTP/1.1 431"));
    }
  }

  @Test
  void aFloodWithoutEndIsCutOff() throws IOException {
    try (Client client = client()) {
      String much = "x".repeat(1 << 16);
      // Time, not bytes: on a fast machine a gigabyte fits into the second that is drained.
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
      assertThrows(
          IOException.class,
          () -> {
            while (System.nanoTime() - deadline < 0) {
              client.say(much);
            }
          },
          "nobody hung up");
    }
    assertTrue(Client.get(server, "/").startsWith("HTTP/1.1 200"));
  }

  @Test
  void aByteAtATimeIsCutOffInTime() throws IOException, InterruptedException {
    try (Client client = client()) {
      long start = System.nanoTime();
      boolean cut = false;
      for (int i = 0; i < 500 && !cut; i++) {
        try {
          client.say("x");
        } catch (IOException hungUp) {
          cut = true;
        }
        TimeUnit.MILLISECONDS.sleep(20); // the attack, not a wait
      }
      assertTrue(cut, "a client may take as long as it likes");
      assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(8));
    }
  }

  @Test
  void clientsThatHoldConnectionsKeepNobodyOut() throws IOException {
    List<Client> holders = new ArrayList<>();
    try {
      for (int i = 0; i < 20 * LIMITS.connections(); i++) {
        holders.add(client().say("GET / HTTP/1.1\r\n"));
      }
      long start = System.nanoTime();
      assertTrue(Client.get(server, "/").startsWith("HTTP/1.1 200"));
      assertTrue(System.nanoTime() - start < TimeUnit.MILLISECONDS.toNanos(1200));
      assertTrue(holders.getFirst().isHungUpOn());
    } finally {
      for (Client holder : holders) {
        holder.close();
      }
    }
  }

  /** They send nothing at all, so no request is under way that could be too slow. */
  @Test
  void silentClientsKeepNobodyOut() throws IOException {
    List<Client> silent = new ArrayList<>();
    try {
      for (int i = 0; i < 20 * LIMITS.connections(); i++) {
        silent.add(client());
      }
      assertTrue(Client.get(server, "/").startsWith("HTTP/1.1 200"));
      assertTrue(silent.getFirst().isHungUpOn());
    } finally {
      for (Client client : silent) {
        client.close();
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "200, localhost",
    "200, LocalHost.:9090",
    "200, 127.0.0.1:9090",
    "200, 10.1.2.3",
    "200, '[::1]:9090'",
    "200, '[fd00::1]'",
    "200, node-a:9090",
    "421, rebound.example",
    "421, rebound.example:9090",
    "421, 10.1.2.3.rebound.example",
    "421, node-a.rebound.example",
    "421, localhost.rebound.example",
    "421, '[rebound.example]'",
    "421, '[::1].rebound.example'",
    "421, '[::1]rebound.example:9090'",
    "421, localhost:rebound.example",
    "421, 'localhost:9090:1'",
    "421, '::1'",
    "421, ''"
  })
  void answersUnderItsOwnNamesAlone(int status, String host) throws Exception {
    Told other = new Told();
    try (Endpoint _ = Endpoint.start(ANY_PORT, LIMITS, Set.of("Node-A"), HttpTest::handle, other)) {
      InetSocketAddress where = (InetSocketAddress) other.next();
      try (Client client = new Client(where)) {
        String answer = client.say("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n").hear();
        assertTrue(answer.startsWith("HTTP/1.1 " + status + " "), answer);
      }
      assertEquals(200, Fetch.get(where, "/").status(), "a client that sends no Host header");
    }
  }

  /** What an agent leaves behind that stops while it answers. */
  @ParameterizedTest
  @ValueSource(strings = {"", "{\"ok\":tr"})
  void anAnswerThatIsCutShortIsNone(String body) throws Exception {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String answer = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n" + body;
      Thread server = Thread.ofPlatform().start(() -> answerOne(socket, answer));
      InetSocketAddress where = (InetSocketAddress) socket.getLocalSocketAddress();
      IOException cut = assertThrows(IOException.class, () -> Fetch.get(where, "/"));
      assertEquals("its answer is cut short", cut.getMessage());
      server.join();
    }
  }

  private static void answerOne(ServerSocket socket, String answer) {
    try (Socket client = socket.accept()) {
      // Whole, so that closing does not reset the connection.
      client.getInputStream().readNBytes("GET / HTTP/1.0\r\n\r\n".length());
      client.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  @Test
  void aClientThatDoesNotReadIsDropped() throws IOException {
    try (Client client = client()) {
      client.say("GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
      // Others are served meanwhile, and after its time its connection is gone.
      assertTrue(Client.get(server, "/").startsWith("HTTP/1.1 200"));
      Eventually.eventually("the end of its time", client::isCutOff, cut -> cut);
    }
  }

  @Test
  void aBigAnswerArrivesWhole() throws IOException {
    String answer = Client.get(server, "/big");
    assertEquals(8 << 20, answer.substring(answer.indexOf("\r\n\r\n") + 4).strip().length());
  }

  @Test
  void waitsForAnAddressThatIsTaken() throws Exception {
    Told other = new Told();
    ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    InetSocketAddress where = (InetSocketAddress) taken.getLocalSocketAddress();
    try (Endpoint _ = Endpoint.start(where, LIMITS, NAMES, HttpTest::handle, other)) {
      assertTrue(other.next() instanceof String);
      taken.close();
      assertEquals(where, other.next());
      assertTrue(Client.get(where, "/").startsWith("HTTP/1.1 200"));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "127.0.0.1:9090, /127.0.0.1:9090",
    "localhost:1, /127.0.0.1:1",
    "[::1]:0, /[0:0:0:0:0:0:0:1]:0",
    ":9090, 0.0.0.0/0.0.0.0:9090",
    "9090,",
    "::1:9090,",
    "127.0.0.1:,",
    "127.0.0.1:99999,",
    "127.1:80,",
    "example.org:80,",
    "127.0.0.1:-1,"
  })
  void readsWhereToListen(String text, String expected) {
    assertEquals(Optional.ofNullable(expected), Listen.parse(text).map(Object::toString));
  }

  /** What is queued for a client that was sent away need not be worked on. */
  @Test
  void anAnswerThatNobodyWaitsForIsCancelled() throws Exception {
    BlockingQueue<Future<Response>> queued = new ArrayBlockingQueue<>(100);
    Endpoint.Handler handler =
        _ -> {
          queued.add(new CompletableFuture<>());
          return queued.peek();
        };
    Told other = new Told();
    try (Endpoint _ = Endpoint.start(ANY_PORT, LIMITS, NAMES, handler, other);
        Client client = new Client((InetSocketAddress) other.next())) {
      client.say("GET / HTTP/1.0\r\n\r\n");
      assertTrue(client.hear().startsWith("HTTP/1.1 503"));
      assertTrue(queued.remove().isCancelled());
    }
  }

  /** The answers that nobody waits for any more keep no thread. */
  @Test
  void unansweredRequestsKeepNobodyOut() throws IOException {
    List<Client> waiting = new ArrayList<>();
    try {
      for (int i = 0; i < 20 * LIMITS.connections(); i++) {
        waiting.add(client().say("GET /never HTTP/1.0\r\n\r\n"));
      }
      assertTrue(Client.get(server, "/").startsWith("HTTP/1.1 200"));
    } finally {
      for (Client client : waiting) {
        client.close();
      }
    }
  }
}
