package ipmasq.http;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a server at an address, on its own thread. If the address is in use or not available yet,
 * it retries; nothing else waits for it.
 */
public final class Endpoint implements AutoCloseable {
  private static final long FIRST_RETRY_MILLIS = 500;
  private static final long LAST_RETRY_MILLIS = 30_000;

  /** Called on the endpoint's thread when the state changes. */
  public interface Listener {
    void open(InetSocketAddress where);

    void shut(InetSocketAddress where, String why);
  }

  private final InetSocketAddress where;
  private final Limits limits;
  private final Handler handler;
  private final Listener listener;
  private @Nullable HttpServer server;
  private boolean closed;

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
    long retry = FIRST_RETRY_MILLIS;
    String known = "";
    while (!over()) {
      try (HttpServer opened = HttpServer.open(where, limits, handler)) {
        if (!keep(opened)) {
          return;
        }
        listener.open(opened.address());
        retry = FIRST_RETRY_MILLIS;
        known = "";
        opened.serve();
      } catch (IOException | RuntimeException | OutOfMemoryError refused) {
        String why = String.valueOf(refused.getMessage());
        if (!why.equals(known)) {
          known = why;
          shut(why);
        }
      }
      await(retry);
      retry = Math.min(2 * retry, LAST_RETRY_MILLIS);
    }
  }

  private void shut(String why) {
    try {
      listener.shut(where, why);
    } catch (OutOfMemoryError full) {
      // Not reported, but the address is tried again all the same.
    }
  }

  private synchronized boolean over() {
    return closed;
  }

  private synchronized boolean keep(HttpServer opened) {
    server = opened;
    return !closed;
  }

  private synchronized void await(long millis) {
    long until = System.nanoTime() + millis * 1_000_000;
    try {
      for (long left = millis; !closed && left > 0; ) {
        wait(left);
        left = (until - System.nanoTime()) / 1_000_000;
      }
    } catch (InterruptedException end) {
      closed = true;
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    if (server != null) {
      server.close();
    }
    notifyAll();
  }
}
