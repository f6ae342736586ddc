package ipmasq.testkit;

import ipmasq.testkit.Sighting.Unseen;
import java.io.IOException;
import java.net.BindException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.NetworkChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntSupplier;

/**
 * Packets with one source and one destination, so that the kernel takes them for one connection.
 * Used by one thread.
 */
public final class Flow implements AutoCloseable {
  static final Duration DEADLINE = Duration.ofSeconds(2);

  private final Witness witness;
  private final Probe probe;
  private final NetworkChannel channel;
  private boolean connected;

  private Flow(Witness witness, Probe probe, NetworkChannel channel) {
    this.witness = witness;
    this.probe = probe;
    this.channel = channel;
  }

  /** Makes the flow's socket; to be called inside the namespace of the sender. */
  static Flow open(Witness witness, Probe probe, IntSupplier freshPorts) throws IOException {
    StandardProtocolFamily family =
        probe.destination() instanceof Inet4Address
            ? StandardProtocolFamily.INET
            : StandardProtocolFamily.INET6;
    NetworkChannel channel =
        switch (probe.protocol()) {
          case UDP -> DatagramChannel.open(family);
          case TCP -> SocketChannel.open(family);
        };
    try {
      bind(channel, probe, freshPorts);
    } catch (IOException e) {
      channel.close();
      throw e;
    }
    return new Flow(witness, probe, channel);
  }

  private static void bind(NetworkChannel channel, Probe probe, IntSupplier freshPorts)
      throws IOException {
    InetAddress source =
        probe.source() != null
            ? probe.source()
            : InetAddress.ofLiteral(probe.destination() instanceof Inet4Address ? "0.0.0.0" : "::");
    for (int attempt = 0; ; attempt++) {
      int port = probe.sourcePort() != 0 ? probe.sourcePort() : freshPorts.getAsInt();
      try {
        channel.bind(new InetSocketAddress(source, port));
        return;
      } catch (BindException taken) {
        if (probe.sourcePort() != 0 || attempt == 10) {
          throw taken;
        }
      }
    }
  }

  /** The port from which the sender sends. */
  public int sourcePort() throws IOException {
    return ((InetSocketAddress) channel.getLocalAddress()).getPort();
  }

  /** Sends one packet and waits until somebody sees it. */
  public Sighting send() {
    return send(DEADLINE);
  }

  /** Sends one packet and waits until somebody sees it, or the time is over. */
  public Sighting send(Duration deadline) {
    return await(fire(), System.nanoTime() + deadline.toNanos());
  }

  /** A packet under way. */
  record Sent(long token, CompletableFuture<Sighting> arrival) {}

  /** Sends one packet. */
  Sent fire() {
    long token = witness.newToken();
    CompletableFuture<Sighting> arrival = witness.await(token);
    try {
      connect();
      ((ByteChannel) channel).write(ByteBuffer.allocate(Witness.TOKEN_BYTES).putLong(token).flip());
    } catch (IOException refused) {
      arrival.complete(new Unseen(probe + ": " + refused.getMessage()));
    }
    return new Sent(token, arrival);
  }

  private void connect() throws IOException {
    if (connected) {
      return;
    }
    InetSocketAddress destination = new InetSocketAddress(probe.destination(), probe.port());
    switch (channel) {
      case DatagramChannel datagrams -> datagrams.connect(destination);
      case SocketChannel connection -> {
        connection.setOption(StandardSocketOptions.TCP_NODELAY, true);
        // A reset at the end: the port is free at once, and nothing lingers in the lab.
        connection.setOption(StandardSocketOptions.SO_LINGER, 0);
        connection.socket().connect(destination, (int) DEADLINE.toMillis());
      }
      default -> throw new AssertionError(channel);
    }
    connected = true;
  }

  /** Waits for a packet until the given {@code System.nanoTime}. */
  Sighting await(Sent sent, long until) {
    try {
      return sent.arrival.get(Math.max(0, until - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      return new Unseen(probe + ": it did not arrive in time");
    } catch (ExecutionException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Unseen(probe + ": interrupted while waiting");
    } finally {
      witness.forget(sent.token);
    }
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException gone) {
      // It is closed either way.
    }
  }
}
