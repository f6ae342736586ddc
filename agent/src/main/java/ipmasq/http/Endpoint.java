package ipmasq.http;

import ipmasq.thread.Daemon;
import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A server at an address, with a thread that accepts and a few that serve. If the address is in use
 * or not available yet, it tries again; nothing else waits for it.
 */
public final class Endpoint implements AutoCloseable {
  private static final int BACKLOG = 64;
  private static final long FIRST_RETRY_MILLIS = 250;
  private static final long LAST_RETRY_MILLIS = 30_000;
  private static final long NO_DESCRIPTOR_MILLIS = 100;
  private static final int DRAIN_MILLIS = 1000;

  /** Answers requests. Called by several threads at once, and must not wait: there are few. */
  @FunctionalInterface
  public interface Handler {
    /** Returns the answer, or one to come, which is cancelled once nobody waits for it. */
    Future<Response> handle(Request request);
  }

  /** Called on the endpoint's thread when the state changes. */
  public interface Listener {
    void open(InetSocketAddress where);

    void shut(InetSocketAddress where, String why);
  }

  /**
   * How much clients may ask of the server.
   *
   * @param connections at most this many at once, and as many threads; one more evicts the oldest,
   *     so that silent clients cannot keep a health probe out
   * @param time for each read, and for an answer to be made; a connection lasts three times that
   */
  public record Limits(int connections, Duration time) {
    public static final Limits USUAL = new Limits(16, Duration.ofSeconds(10));
  }

  private final InetSocketAddress where;
  private final Limits limits;
  private final Set<String> names;
  private final Handler handler;
  private final Listener listener;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final BlockingQueue<Connection> unserved = new LinkedBlockingQueue<>();

  private final Deque<Connection> open = new ArrayDeque<>(); // the oldest first; at most workers
  private int workers;
  private volatile @Nullable ServerSocket door;

  private Endpoint(
      InetSocketAddress where,
      Limits limits,
      Set<String> names,
      Handler handler,
      Listener listener) {
    this.where = where;
    this.limits = limits;
    this.names = Set.copyOf(names);
    this.handler = handler;
    this.listener = listener;
  }

  /**
   * @param names under which clients may ask for it, besides addresses and {@code localhost}
   */
  public static Endpoint start(
      InetSocketAddress where,
      Limits limits,
      Set<String> names,
      Handler handler,
      Listener listener) {
    Endpoint endpoint = new Endpoint(where, limits, names, handler, listener);
    Daemon.startForGood("http", endpoint::run);
    return endpoint;
  }

  private void run() {
    String known = "";
    long retry = FIRST_RETRY_MILLIS;
    do {
      try (ServerSocket bound = new ServerSocket()) {
        bound.setReuseAddress(true);
        bound.bind(where, BACKLOG);
        if (!startWorker()) {
          throw new IOException("no thread can be started");
        }
        door = bound;
        if (closed.getCount() > 0) {
          listener.open((InetSocketAddress) bound.getLocalSocketAddress());
          accept(bound);
        }
        return;
      } catch (IOException refused) {
        String why = String.valueOf(refused.getMessage());
        if (!why.equals(known)) {
          known = why;
          listener.shut(where, why);
        }
      }
      retry = Math.min(2 * retry, LAST_RETRY_MILLIS);
    } while (pause(retry));
  }

  /** Returns whether to go on. */
  private boolean pause(long millis) {
    try {
      return !closed.await(millis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException end) {
      return false;
    }
  }

  private void accept(ServerSocket bound) {
    while (!bound.isClosed()) {
      try {
        bound.setSoTimeout(millisToNextEnd());
        take(new Connection(bound.accept()));
      } catch (SocketTimeoutException due) {
        // The oldest connection is overdue.
      } catch (IOException noDescriptor) {
        pause(NO_DESCRIPTOR_MILLIS); // the client stays in the backlog: at once would only spin
      }
    }
  }

  /** Closes what is overdue; 0 is a wait without end. */
  private synchronized int millisToNextEnd() {
    while (!open.isEmpty() && open.element().millisLeft() <= 0) {
      end(open.element());
    }
    return open.isEmpty() ? 0 : (int) open.element().millisLeft() + 1;
  }

  private synchronized void end(Connection connection) {
    connection.close();
    open.remove(connection);
    unserved.remove(connection);
  }

  /** With no thread left for it, it gets that of the oldest connection. */
  private synchronized void take(Connection connection) {
    if (open.size() == workers && !startWorker()) {
      end(open.element());
    }
    open.add(connection);
    unserved.add(connection);
  }

  /** They stay, so that a probe is answered when the kernel allows no more threads. */
  private synchronized boolean startWorker() {
    boolean started =
        workers < limits.connections() && Daemon.start("http-" + (workers + 1), this::work);
    workers += started ? 1 : 0;
    return started;
  }

  private void work() {
    try {
      while (true) {
        Connection connection = unserved.take();
        connection.serve();
        end(connection);
      }
    } catch (InterruptedException end) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public synchronized void close() {
    closed.countDown();
    List.copyOf(open).forEach(this::end);
    ServerSocket bound = door;
    if (bound != null) {
      quietly(bound);
    }
  }

  private static void quietly(Closeable socket) {
    try {
      socket.close();
    } catch (IOException gone) {
      // It is closed either way.
    }
  }

  /** One client and its one request, served by one thread and closed by any. */
  private final class Connection {
    private final Socket socket;
    private final long end = System.nanoTime() + 3 * limits.time.toNanos();
    private volatile Future<Response> answer = new CompletableFuture<>();

    Connection(Socket socket) {
      this.socket = socket;
    }

    long millisLeft() {
      return TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
    }

    void close() {
      answer.cancel(false);
      quietly(socket);
    }

    void serve() {
      try {
        socket.setTcpNoDelay(true);
        socket.setSoTimeout((int) limits.time.toMillis());
        exchange();
        socket.shutdownOutput();
        drain();
      } catch (IOException gone) {
        // The client went away, or was sent away.
      }
    }

    private void exchange() throws IOException {
      try {
        Request request = Request.read(new BufferedInputStream(socket.getInputStream()), names);
        answer(request).write(socket.getOutputStream(), !request.head());
      } catch (Request.Refused refused) {
        refused.response().write(socket.getOutputStream(), true);
      } catch (SocketTimeoutException slow) {
        Response.text(408, "the request took too long").write(socket.getOutputStream(), true);
      }
    }

    private Response answer(Request request) {
      try {
        answer = handler.handle(request);
        if (socket.isClosed()) {
          answer.cancel(false);
        }
        return answer.get(limits.time.toNanos(), TimeUnit.NANOSECONDS);
      } catch (TimeoutException | CancellationException late) {
        answer.cancel(false);
        return Response.text(503, "the answer took too long");
      } catch (RuntimeException | Error | ExecutionException | InterruptedException bug) {
        return Response.text(500, "this is a bug");
      }
    }

    /** Input that nobody read would reset the connection, which could destroy the answer. */
    private void drain() throws IOException {
      long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DRAIN_MILLIS);
      socket.setSoTimeout(DRAIN_MILLIS);
      byte[] unread = new byte[8192];
      while (socket.getInputStream().read(unread) >= 0 && System.nanoTime() - until < 0) {
        // Nobody wants it.
      }
    }
  }
}
