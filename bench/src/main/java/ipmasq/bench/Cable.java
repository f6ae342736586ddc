package ipmasq.bench;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import ipmasq.testkit.Namespace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.net.NetworkInterface;

/**
 * A pod's end of its cable, onto which whole frames are put: as little work before the node as can
 * be. Used by one thread.
 */
final class Cable implements AutoCloseable {
  private static final int AF_PACKET = 17;
  private static final int SOCK_RAW = 3;
  private static final int SOL_PACKET = 263;
  private static final int PACKET_QDISC_BYPASS = 20;

  /** {@code sockaddr_ll}: family 2, protocol 2, index 4, and what only receivers fill. */
  private static final int SIZEOF_SOCKADDR_LL = 20;

  private static final MethodHandle SOCKET = link("socket", JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle BIND = link("bind", JAVA_INT, ADDRESS, JAVA_INT);
  private static final MethodHandle SETSOCKOPT =
      link("setsockopt", JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
  private static final MethodHandle SENDMMSG =
      link("sendmmsg", JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT);
  private static final MethodHandle CLOSE = link("close", JAVA_INT);

  private final int descriptor;

  private Cable(int descriptor) {
    this.descriptor = descriptor;
  }

  @SuppressWarnings("restricted") // native calls, which only a benchmark needs here
  private static MethodHandle link(String function, MemoryLayout... parameters) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(
        linker.defaultLookup().findOrThrow(function), FunctionDescriptor.of(JAVA_INT, parameters));
  }

  /** The end inside a pod. */
  static Cable of(Namespace pod, String name) {
    try {
      return pod.call(() -> open(NetworkInterface.getByName(name).getIndex()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Cable open(int index) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      int descriptor = check("socket", (int) SOCKET.invokeExact(AF_PACKET, SOCK_RAW, 0));
      MemorySegment address = arena.allocate(SIZEOF_SOCKADDR_LL, 4);
      address.set(JAVA_SHORT, 0, (short) AF_PACKET);
      address.set(JAVA_INT, 4, index);
      check("bind", (int) BIND.invokeExact(descriptor, address, SIZEOF_SOCKADDR_LL));
      MemorySegment on = arena.allocateFrom(JAVA_INT, 1);
      check(
          "setsockopt",
          (int) SETSOCKOPT.invokeExact(descriptor, SOL_PACKET, PACKET_QDISC_BYPASS, on, 4));
      return new Cable(descriptor);
    } catch (IOException | RuntimeException | Error e) {
      throw e;
    } catch (Throwable impossible) {
      throw new AssertionError(impossible);
    }
  }

  /** Sends frames, of which at most so many; returns when the last one is through. */
  void send(Frames frames, int first, int atMost) {
    int last = Math.min(frames.count(), first + atMost);
    try {
      for (int next = first; next < last; ) {
        MemorySegment from = frames.from(next);
        next += check("sendmmsg", (int) SENDMMSG.invokeExact(descriptor, from, last - next, 0));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable impossible) {
      throw new AssertionError(impossible);
    }
  }

  private static int check(String call, int result) throws IOException {
    if (result < 0) {
      throw new IOException(call + " failed on a packet socket");
    }
    return result;
  }

  @Override
  public void close() {
    try {
      int ignored = (int) CLOSE.invokeExact(descriptor);
    } catch (Throwable impossible) {
      throw new AssertionError(impossible);
    }
  }
}
