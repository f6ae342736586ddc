package ipmasq.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One client. Used by the server's thread.
 *
 * <pre>
 *   READING ──whole head──▶ ANSWERING ──answer──▶ WRITING ──▶ READING (or the end)
 *      └──── bad head ────────────────────────────▶  └─last─▶ DRAINING ──▶ the end
 * </pre>
 */
final class Connection {
  enum ConnectionState {
    /** Waiting for a request, or for the rest of one. */
    READING,
    /** The handler has it. */
    ANSWERING,
    /** The answer is being sent. */
    WRITING,
    /** The answer is sent; further input is discarded, because a reset could destroy the answer. */
    DRAINING
  }

  private static final int FIRST_BYTES = 1024;

  final SocketChannel channel;
  final SelectionKey key;
  private final Limits limits;

  private byte[] input = new byte[FIRST_BYTES];
  private int filled;
  private boolean lineCame;
  private ByteBuffer[] output = {};
  private boolean last;
  private int requests;

  private ConnectionState state = ConnectionState.READING;
  private long since;
  private long deadline;

  Connection(SocketChannel channel, SelectionKey key, Limits limits, long now) {
    this.channel = channel;
    this.key = key;
    this.limits = limits;
    this.since = now;
    this.deadline = now + limits.request().toNanos();
  }

  ConnectionState state() {
    return state;
  }

  /** When this state began. */
  long since() {
    return since;
  }

  /** When this state must be over. */
  long deadline() {
    return deadline;
  }

  /** Whether a part of a request has come. */
  boolean midRequest() {
    return filled > 0;
  }

  private void become(ConnectionState next, long now, long nanos) {
    state = next;
    since = now;
    deadline = now + nanos;
    key.interestOps(
        switch (next) {
          case READING, DRAINING -> SelectionKey.OP_READ;
          case ANSWERING -> 0;
          case WRITING -> SelectionKey.OP_WRITE;
        });
  }

  /** Reads available input; returns whether the client is still connected. */
  boolean read(ByteBuffer scratch, long now) throws IOException {
    scratch.clear();
    if (state == ConnectionState.READING) {
      scratch.limit(Math.min(scratch.capacity(), limits.headBytes() - filled));
    }
    int read = channel.read(scratch);
    if (read < 0) {
      return false;
    }
    if (state != ConnectionState.READING) {
      return true;
    }
    if (filled == 0 && read > 0) {
      become(ConnectionState.READING, now, limits.request().toNanos());
    }
    if (filled + read > input.length) {
      input = Arrays.copyOf(input, Math.max(filled + read, 2 * input.length));
    }
    for (int i = 0; i < read; i++) {
      byte b = scratch.get(i);
      lineCame |= b == '\n';
      input[filled++] = b;
    }
    return true;
  }

  /** The request, if it is complete or malformed; the caller must then answer. */
  Head.@Nullable ParsedHead next() {
    if (!lineCame && filled < limits.lineBytes()) {
      return null;
    }
    lineCame = false;
    Head.ParsedHead parsed = Head.parse(input, filled, limits);
    return parsed instanceof Head.ParsedHead.Partial ? null : parsed;
  }

  /** A whole head was taken; what follows it is the next request's. */
  void answering(Head.ParsedHead.WholeHead whole, long now) {
    filled -= whole.length();
    System.arraycopy(input, whole.length(), input, 0, filled);
    lineCame = filled > 0;
    last = !whole.keepAlive() || ++requests >= limits.requests();
    become(ConnectionState.ANSWERING, now, limits.request().toNanos());
  }

  /** Nothing more is taken from this client after the answer. */
  void lastAnswer() {
    last = true;
  }

  boolean keepsAlive() {
    return !last;
  }

  void send(ByteBuffer[] answer, long now) {
    output = answer;
    become(ConnectionState.WRITING, now, limits.request().toNanos());
  }

  /** Writes as much as the client accepts; returns whether the connection stays open. */
  boolean write(long now) throws IOException {
    channel.write(output);
    if (output[output.length - 1].hasRemaining()) {
      return true;
    }
    output = new ByteBuffer[0];
    if (last) {
      channel.shutdownOutput();
      become(ConnectionState.DRAINING, now, Math.min(1_000_000_000L, limits.request().toNanos()));
    } else {
      become(
          ConnectionState.READING, now, (filled > 0 ? limits.request() : limits.idle()).toNanos());
    }
    return true;
  }

  void close() {
    key.cancel();
    try {
      channel.close();
    } catch (IOException gone) {
      // It is closed either way.
    }
  }
}
