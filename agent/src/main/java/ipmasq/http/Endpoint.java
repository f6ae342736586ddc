package ipmasq.http;

import ipmasq.thread.Daemon;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.TimeUnit;
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
  private static final long IDLE_SECONDS = 10;

  /** Called on the endpoint's thread when the state changes. */
  public interface Listener {
    void open(InetSocketAddress where);

    void shut(InetSocketAddress where, String why);
  }

  private final InetSocketAddress where;
  private final Limits limits;
  private final Handler handler;
  private final Listener listener;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final LinkedTransferQueue<Connection> unserved = new LinkedTransferQueue<>();

  private final Deque<Connection> open = new ArrayDeque<>(); // the oldest first
  private int workers;
  private @Nullable ServerSocket door;

  private Endpoint(InetSocketAddress where, Limits limits, Handler handler, Listener listener) {
    this.where = where;
    this.limits = limits;
    this.handler = handler;
    this.listener = listener;
  }

  public static Endpoint start(
      InetSocketAddress where, Limits limits, Handler handler, Listener listener) {
    Endpoint endpoint = new Endpoint(where, limits, handler, listener);
    Thread.ofPlatform().daemon().name("http").start(endpoint::run);
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
        if (keep(bound)) {
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

  private synchronized boolean keep(ServerSocket bound) {
    door = bound;
    return closed.getCount() > 0;
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
        bound.setSoTimeout(millisToNextDeadline());
        take(new Connection(bound.accept(), limits));
      } catch (SocketTimeoutException due) {
        // The oldest connection is overdue.
      } catch (IOException noDescriptor) {
        pause(NO_DESCRIPTOR_MILLIS); // the client stays in the backlog: at once would only spin
      }
    }
  }

  /** Closes what is overdue; 0 is a wait without end. */
  private synchronized int millisToNextDeadline() {
    while (!open.isEmpty() && open.element().millisLeft() <= 0) {
      end(open.element());
    }
    return open.isEmpty() ? 0 : (int) Math.max(1, open.element().millisLeft());
  }

  private synchronized void end(Connection connection) {
    connection.close();
    open.remove(connection);
    unserved.remove(connection);
  }

  private synchronized void take(Connection connection) {
    if (!unserved.tryTransfer(connection)) {
      if (!startWorker() && !open.isEmpty()) {
        end(open.element()); // its thread then serves this one
      }
      unserved.add(connection);
    }
    open.add(connection);
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
      while (closed.getCount() > 0) {
        Connection connection = unserved.poll(IDLE_SECONDS, TimeUnit.SECONDS);
        if (connection != null) {
          connection.serve(handler);
          end(connection);
        }
      }
    } catch (InterruptedException end) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public synchronized void close() {
    closed.countDown();
    List.copyOf(open).forEach(this::end);
    try {
      if (door != null) {
        door.close();
      }
    } catch (IOException gone) {
      // It is closed either way.
    }
  }
}
