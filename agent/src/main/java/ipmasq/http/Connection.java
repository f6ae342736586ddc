package ipmasq.http;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * One client and its one request; reads from the client until a deadline, however slowly it sends.
 * Served by one thread; the endpoint's thread closes it when its time is over, or when it is the
 * oldest of too many.
 */
final class Connection extends InputStream {
  private static final Duration DRAIN = Duration.ofSeconds(1);

  private final Socket socket;
  private final Limits limits;
  private final CompletableFuture<Response> answer = new CompletableFuture<>();
  private final long end;
  private long deadline;

  Connection(Socket socket, Limits limits) {
    this.socket = socket;
    this.limits = limits;
    this.end = System.nanoTime() + 3 * limits.time().toNanos();
    this.deadline = System.nanoTime() + limits.time().toNanos();
  }

  /** How long it may stay open, in milliseconds: to arrive, to be answered and to be sent. */
  long millisLeft() {
    return TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
  }

  /** From any thread. */
  @Override
  public void close() {
    answer.cancel(false);
    try {
      socket.close();
    } catch (IOException gone) {
      // It is closed either way.
    }
  }

  void serve(Handler handler) {
    try (this) {
      socket.setTcpNoDelay(true);
      exchange(handler);
      // Input that nobody read would reset the connection, which could destroy the answer.
      deadline = System.nanoTime() + DRAIN.toNanos();
      socket.shutdownOutput();
      transferTo(OutputStream.nullOutputStream());
    } catch (IOException gone) {
      // The client went away, or was sent away.
    }
  }

  private void exchange(Handler handler) throws IOException {
    try {
      Head head = Head.read(new BufferedInputStream(this), limits);
      answer(handler, head.request()).write(socket.getOutputStream(), head.withBody());
    } catch (Head.Refused refused) {
      refused.response().write(socket.getOutputStream(), true);
    } catch (SocketTimeoutException slow) {
      Response.text(408, "the request took too long").write(socket.getOutputStream(), true);
    }
  }

  private Response answer(Handler handler, Request request) {
    try {
      handler.handle(
          new Request(request.path(), request.query(), request.host(), this::cancelled),
          answer::complete);
      return answer.get(limits.time().toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException late) {
      answer.cancel(false);
      return Response.text(503, "the answer took too long");
    } catch (RuntimeException | Error | ExecutionException | InterruptedException bug) {
      return Response.text(500, "this is a bug");
    }
  }

  /** A client that closed its side counts as gone. */
  private boolean cancelled() {
    try {
      if (!answer.isDone()) {
        socket.setSoTimeout(1);
        return socket.getInputStream().read() < 0;
      }
      return true;
    } catch (SocketTimeoutException waiting) {
      return false;
    } catch (IOException gone) {
      return true;
    }
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] into, int from, int most) throws IOException {
    long millis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
    if (millis <= 0) {
      throw new SocketTimeoutException();
    }
    socket.setSoTimeout((int) millis);
    return socket.getInputStream().read(into, from, most);
  }
}
