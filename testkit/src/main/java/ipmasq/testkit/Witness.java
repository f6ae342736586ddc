package ipmasq.testkit;

import ipmasq.testkit.Sighting.Seen;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Listens on hosts and says from where packets came. Thread-safe; one thread of its own does the
 * listening.
 *
 * <p>Every packet carries a token, so that it is known again whatever its addresses have become.
 */
final class Witness implements AutoCloseable {
  static final int TOKEN_BYTES = Long.BYTES;
  private static final int BUFFER = 1 << 20; // the kernel gives what it allows

  private final Selector selector;
  private final Map<Long, CompletableFuture<Sighting>> awaited = new ConcurrentHashMap<>();
  private final AtomicLong tokens = new AtomicLong(System.nanoTime());

  Witness() {
    try {
      selector = Selector.open();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Thread.ofPlatform().daemon().name("witness").start(this::watch);
  }

  /** Gets UDP and TCP, of both families, at one port of a host. */
  void listen(Namespace host, int port) throws IOException {
    InetSocketAddress any = new InetSocketAddress("::", port);
    DatagramChannel datagrams = host.call(() -> DatagramChannel.open(StandardProtocolFamily.INET6));
    datagrams.setOption(StandardSocketOptions.SO_RCVBUF, BUFFER);
    register(datagrams.bind(any), SelectionKey.OP_READ, host);
    ServerSocketChannel connections =
        host.call(() -> ServerSocketChannel.open(StandardProtocolFamily.INET6));
    register(connections.bind(any, 1024), SelectionKey.OP_ACCEPT, host);
  }

  private void register(SelectableChannel channel, int what, Namespace host) throws IOException {
    channel.configureBlocking(false);
    channel.register(selector, what, host);
    selector.wakeup();
  }

  /** A token that no packet has carried yet. */
  long newToken() {
    return tokens.incrementAndGet();
  }

  /** Completed when a packet with this token arrives somewhere. */
  CompletableFuture<Sighting> await(long token) {
    return awaited.computeIfAbsent(token, _ -> new CompletableFuture<>());
  }

  /** Nobody waits for it any longer. */
  void forget(long token) {
    awaited.remove(token);
  }

  private void watch() {
    ByteBuffer buffer = ByteBuffer.allocateDirect(64);
    try {
      while (selector.isOpen()) {
        selector.select(key -> ready(key, buffer));
      }
    } catch (ClosedSelectorException | IOException closed) {
      // The lab is being taken down.
    }
  }

  private void ready(SelectionKey key, ByteBuffer buffer) {
    Namespace host = (Namespace) key.attachment();
    try {
      switch (key.channel()) {
        case DatagramChannel channel -> receive(channel, host, buffer);
        case ServerSocketChannel channel -> accept(channel, host);
        case SocketChannel channel -> read(channel, host, buffer);
        default -> throw new AssertionError(key.channel());
      }
    } catch (IOException broken) {
      close(key.channel());
    }
  }

  private void receive(DatagramChannel channel, Namespace host, ByteBuffer buffer)
      throws IOException {
    SocketAddress source;
    while ((source = channel.receive(buffer.clear())) != null) {
      report(host, (InetSocketAddress) source, buffer.flip());
    }
  }

  private void accept(ServerSocketChannel channel, Namespace host) throws IOException {
    SocketChannel connection;
    while ((connection = channel.accept()) != null) {
      register(connection, SelectionKey.OP_READ, host);
    }
  }

  private void read(SocketChannel channel, Namespace host, ByteBuffer buffer) throws IOException {
    int read;
    while ((read = channel.read(buffer.clear())) > 0) {
      report(host, (InetSocketAddress) channel.getRemoteAddress(), buffer.flip());
    }
    if (read < 0) {
      close(channel);
    }
  }

  private void report(Namespace host, InetSocketAddress source, ByteBuffer tokens) {
    while (tokens.remaining() >= TOKEN_BYTES) {
      CompletableFuture<Sighting> waiting = awaited.remove(tokens.getLong());
      if (waiting != null) {
        waiting.complete(new Seen(host, source.getAddress(), source.getPort()));
      }
    }
  }

  private static void close(SelectableChannel channel) {
    try {
      channel.close();
    } catch (IOException gone) {
      // It is closed either way.
    }
  }

  @Override
  public void close() {
    selector.keys().forEach(key -> close(key.channel()));
    try {
      selector.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
