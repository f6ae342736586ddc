package ipmasq.deploy.cluster;

import ipmasq.testkit.Namespace;
import ipmasq.testkit.NetworkNamespace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Datagrams from pods to the outside, which says from where they came, and answers. Each is the
 * first of a new flow, so that the rules of the moment decide about it. Thread-safe.
 */
final class Packets implements AutoCloseable {
  private static final int PORT = 9000;
  private static final Duration LOST = Duration.ofSeconds(2);
  private static final Duration PAUSE = Duration.ofMillis(20);
  private static final int FIRST_PORT = 20_000;
  private static final int PORTS = 40_000;

  /** One for each address, so that answers come from there. */
  private final List<DatagramChannel> outside = new ArrayList<>();

  private final Map<Long, CompletableFuture<InetAddress>> awaited = new ConcurrentHashMap<>();
  private final AtomicLong tokens = new AtomicLong(System.nanoTime());
  private final AtomicInteger ports = new AtomicInteger();

  Packets(Namespace host, List<String> addresses) throws IOException {
    for (var address : addresses) {
      var channel = host.call(() -> DatagramChannel.open(family(address)));
      outside.add(channel.bind(new InetSocketAddress(InetAddress.ofLiteral(address), PORT)));
      Thread.ofPlatform().daemon().name(address).start(() -> receive(channel));
    }
  }

  private static StandardProtocolFamily family(String address) {
    return address.contains(":") ? StandardProtocolFamily.INET6 : StandardProtocolFamily.INET;
  }

  private void receive(DatagramChannel channel) {
    var buffer = ByteBuffer.allocate(64);
    while (true) {
      try {
        var source = (InetSocketAddress) channel.receive(buffer.clear());
        if (buffer.flip().remaining() == Long.BYTES) {
          var waiting = awaited.remove(buffer.getLong());
          if (waiting != null) {
            waiting.complete(source.getAddress());
          }
          channel.send(buffer.flip(), source);
        }
      } catch (ClosedChannelException closed) {
        return; // The cluster is being taken down.
      } catch (IOException noWayBack) {
        // Not every destination has a route to pods.
      }
    }
  }

  /** Where one packet seems to come from; "nobody saw it" where it did not arrive. */
  String source(Pod pod, String destination) {
    var answer = new CompletableFuture<String>();
    inside(pod, () -> answer.complete(send(destination)));
    return answer.join();
  }

  private static Thread inside(Pod pod, Runnable task) {
    return Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                NetworkNamespace.enter(pod.namespace());
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
              task.run();
            });
  }

  /** To be called by a thread in the pod. */
  private String send(String destination) {
    long token = tokens.incrementAndGet();
    var arrival = new CompletableFuture<InetAddress>();
    awaited.put(token, arrival);
    try (var channel = bound(family(destination))) {
      channel.send(
          ByteBuffer.allocate(Long.BYTES).putLong(token).flip(),
          new InetSocketAddress(InetAddress.ofLiteral(destination), PORT));
      return arrival.get(LOST.toMillis(), TimeUnit.MILLISECONDS).getHostAddress();
    } catch (IOException | ExecutionException e) {
      return "not sent: " + e.getMessage();
    } catch (TimeoutException e) {
      return "nobody saw it";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "interrupted";
    } finally {
      awaited.remove(token);
    }
  }

  /** A port that none of the last packets had: connection tracking would remember it. */
  private DatagramChannel bound(StandardProtocolFamily family) throws IOException {
    while (true) {
      var channel = DatagramChannel.open(family);
      try {
        int port = FIRST_PORT + Math.floorMod(ports.getAndIncrement(), PORTS);
        return channel.bind(new InetSocketAddress(port));
      } catch (BindException taken) {
        channel.close();
      }
    }
  }

  /** A packet with what the outside must see; {@code ""} is anything. */
  record Expected(Pod pod, String destination, String source) {}

  /** What went on while it was watched. */
  record Report(int packets, List<String> wrong) {
    Report {
      wrong = List.copyOf(wrong);
    }
  }

  /** Sends them again and again, until {@link Stream#end}. */
  Stream stream(List<Expected> expected) {
    return new Stream(expected);
  }

  /** One thread per packet that is sent again and again. */
  final class Stream {
    private final List<Thread> threads = new ArrayList<>();
    private final List<String> wrong = new ArrayList<>();
    private final AtomicInteger sent = new AtomicInteger();
    private volatile boolean ended;

    private Stream(List<Expected> expected) {
      expected.forEach(packet -> threads.add(inside(packet.pod(), () -> send(packet))));
    }

    private void send(Expected packet) {
      while (!ended) {
        var source = Packets.this.send(packet.destination());
        sent.incrementAndGet();
        if (!packet.source().isEmpty() && !source.equals(packet.source())) {
          synchronized (wrong) {
            wrong.add("%s: %s".formatted(packet, source));
          }
        }
        LockSupport.parkNanos(PAUSE.toNanos());
      }
    }

    int packets() {
      return sent.get();
    }

    Report end() throws InterruptedException {
      ended = true;
      for (var thread : threads) {
        thread.join();
      }
      return new Report(sent.get(), wrong);
    }
  }

  @Override
  public void close() throws IOException {
    for (var channel : outside) {
      channel.close();
    }
  }
}
