package ipmasq.http;

import ipmasq.http.Head.ParsedHead;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Serves HTTP on the one thread that calls {@link #serve}, which never waits for a client: a slow
 * one holds only its slot and its buffers, both bounded. An idle server costs nothing.
 */
final class HttpServer implements AutoCloseable {
  private static final int BACKLOG = 64;
  private static final long PAUSE_NANOS = 100_000_000;

  private final Selector selector;
  private final ServerSocketChannel door;
  private final InetSocketAddress address;
  private final Limits limits;
  private final Handler handler;

  private final List<Connection> connections = new ArrayList<>();
  private final Queue<HttpAnswer> answers = new ConcurrentLinkedQueue<>();
  private final ByteBuffer scratch = ByteBuffer.allocateDirect(4096);
  private boolean paused;
  private long pausedUntil;

  /** A handler's answer, on its way to the server's thread. */
  private record HttpAnswer(Exchange exchange, Response response) {}

  /** One request of one connection; a connection that moved on takes no late answers. */
  private record Exchange(Connection connection, long began, boolean withBody) {}

  private HttpServer(Selector selector, ServerSocketChannel door, Limits limits, Handler handler)
      throws IOException {
    this.selector = selector;
    this.door = door;
    this.address = (InetSocketAddress) door.getLocalAddress();
    this.limits = limits;
    this.handler = handler;
  }

  /** Binds the address. */
  static HttpServer open(InetSocketAddress where, Limits limits, Handler handler)
      throws IOException {
    ServerSocketChannel door = ServerSocketChannel.open();
    try {
      door.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      door.bind(where, BACKLOG);
      door.configureBlocking(false);
      Selector selector = Selector.open();
      door.register(selector, SelectionKey.OP_ACCEPT);
      return new HttpServer(selector, door, limits, handler);
    } catch (IOException | RuntimeException e) {
      door.close();
      throw e;
    }
  }

  /** Where it listens, with the port that was chosen. */
  InetSocketAddress address() {
    return address;
  }

  @Override
  public void close() {
    try {
      door.close();
      selector.close();
    } catch (IOException gone) {
      // It is closed either way.
    }
  }

  /** Serves until closed. */
  void serve() {
    try {
      while (selector.isOpen()) {
        reopen();
        selector.select(this::ready, untilNextDeadline());
        HttpAnswer answer;
        while ((answer = answers.poll()) != null) {
          deliver(answer);
        }
        dropOverdue();
      }
    } catch (IOException | ClosedSelectorException closed) {
      // Closed, or out of kernel resources: nobody is served, and the rest of the agent goes on.
    } finally {
      connections.forEach(Connection::close);
      close();
    }
  }

  /** In milliseconds; 0 waits for as long as it takes. */
  private long untilNextDeadline() {
    if (connections.isEmpty() && !paused) {
      return 0;
    }
    long now = System.nanoTime();
    long nearest = paused ? pausedUntil - now : Long.MAX_VALUE;
    for (Connection connection : connections) {
      nearest = Math.min(nearest, connection.deadline() - now);
    }
    return Math.max(1, nearest / 1_000_000 + 1);
  }

  private void ready(SelectionKey key) {
    if (!key.isValid()) {
      return; // its slot just went to another client
    }
    if (!(key.attachment() instanceof Connection connection)) {
      accept();
      return;
    }
    try {
      long now = System.nanoTime();
      boolean on = key.isWritable() ? connection.write(now) : connection.read(scratch, now);
      if (on) {
        take(connection);
      } else {
        drop(connection);
      }
    } catch (IOException broken) {
      drop(connection);
    }
  }

  private void accept() {
    try {
      SocketChannel channel = door.accept();
      if (channel == null) {
        return;
      }
      if (connections.size() >= limits.connections()) {
        drop(oldest());
      }
      channel.configureBlocking(false);
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
      Connection connection = new Connection(channel, key, limits, System.nanoTime());
      key.attach(connection);
      connections.add(connection);
    } catch (IOException none) {
      // Most likely no descriptor is free. The client stays in the backlog, so accepting again at
      // once would only spin.
      paused = true;
      pausedUntil = System.nanoTime() + PAUSE_NANOS;
      door.keyFor(selector).interestOps(0);
    }
  }

  private void reopen() {
    if (paused && pausedUntil - System.nanoTime() <= 0) {
      paused = false;
      door.keyFor(selector).interestOps(SelectionKey.OP_ACCEPT);
    }
  }

  private Connection oldest() {
    Connection oldest = connections.getFirst();
    for (Connection connection : connections) {
      if (connection.since() - oldest.since() < 0) {
        oldest = connection;
      }
    }
    return oldest;
  }

  /** Hands a request over, if one is there. */
  private void take(Connection connection) {
    if (connection.state() != Connection.ConnectionState.READING) {
      return;
    }
    long now = System.nanoTime();
    switch (connection.next()) {
      case null -> {}
      case ParsedHead.Partial() -> {}
      case ParsedHead.Bad(var status, var why) -> {
        connection.lastAnswer();
        connection.send(Wire.bytes(Response.text(status, why), true, false), now);
      }
      case ParsedHead.WholeHead whole -> {
        connection.answering(whole, now);
        Exchange exchange = new Exchange(connection, connection.since(), whole.withBody());
        answer(exchange, whole.request());
      }
    }
  }

  private void answer(Exchange exchange, Request request) {
    Thread server = Thread.currentThread();
    try {
      handler.handle(
          request,
          response -> {
            answers.add(new HttpAnswer(exchange, response));
            if (Thread.currentThread() != server) {
              selector.wakeup();
            }
          });
    } catch (RuntimeException bug) {
      answers.add(new HttpAnswer(exchange, Response.text(500, "this should not have happened")));
    } catch (OutOfMemoryError full) {
      answers.add(new HttpAnswer(exchange, Response.text(503, "out of memory")));
    }
  }

  private void deliver(HttpAnswer answer) {
    Connection connection = answer.exchange.connection;
    if (connection.state() != Connection.ConnectionState.ANSWERING
        || connection.since() != answer.exchange.began
        || !connections.contains(connection)) {
      return; // too late
    }
    try {
      long now = System.nanoTime();
      connection.send(
          Wire.bytes(answer.response, answer.exchange.withBody, connection.keepsAlive()), now);
      connection.write(now);
      take(connection); // a client may send its next request before the answer to this one
    } catch (IOException broken) {
      drop(connection);
    }
  }

  private void dropOverdue() {
    long now = System.nanoTime();
    @Nullable List<Connection> overdue = null;
    for (Connection connection : connections) {
      if (connection.deadline() - now <= 0) {
        overdue = overdue == null ? new ArrayList<>() : overdue;
        overdue.add(connection);
      }
    }
    if (overdue != null) {
      overdue.forEach(connection -> endLate(connection, now));
    }
  }

  /** Answers a timeout if possible: a request that did not arrive, or an answer that did not. */
  private void endLate(Connection connection, long now) {
    int status =
        switch (connection.state()) {
          case READING -> connection.midRequest() ? 408 : 0;
          case ANSWERING -> 503;
          case WRITING, DRAINING -> 0;
        };
    if (status == 0) {
      drop(connection);
      return;
    }
    connection.lastAnswer();
    connection.send(Wire.bytes(Response.text(status, "it took too long"), true, false), now);
  }

  private void drop(Connection connection) {
    connection.close();
    connections.remove(connection);
  }
}
