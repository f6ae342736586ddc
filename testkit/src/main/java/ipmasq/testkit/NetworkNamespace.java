package ipmasq.testkit;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Moves a thread into another network namespace. A namespace is a property of the kernel thread, so
 * only platform threads may enter: a virtual thread would leave its carrier behind there.
 *
 * <p>What the thread creates there stays there: sockets, child processes and the threads it starts.
 * {@code /proc/net} is the view of the process and does not change; {@code /proc/thread-self/net}
 * and {@code /proc/sys/net} are the thread's.
 */
public final class NetworkNamespace {
  private static final int O_CLOEXEC = 0x80000;
  private static final int CLONE_NEWNET = 0x4000_0000;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

  // The third word of open is variadic, and unused here.
  private static final MethodHandle OPEN =
      link("open", FunctionDescriptor.of(INT, ValueLayout.ADDRESS, INT));
  private static final MethodHandle SETNS = link("setns", FunctionDescriptor.of(INT, INT, INT));
  private static final MethodHandle CLOSE = link("close", FunctionDescriptor.of(INT, INT));

  private NetworkNamespace() {}

  /** Where {@code ip netns} keeps the namespace of this name. */
  public static String path(String name) {
    return "/run/netns/" + name;
  }

  /** Moves the current thread, for the rest of its life, into a namespace of {@code ip netns}. */
  public static void enter(String name) throws IOException {
    if (Thread.currentThread().isVirtual()) {
      throw new IllegalStateException("a virtual thread cannot enter a network namespace");
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment path = arena.allocateFrom(path(name));
      int fd = (int) OPEN.invokeExact(path, O_CLOEXEC);
      int entered = fd < 0 ? fd : (int) SETNS.invokeExact(fd, CLONE_NEWNET);
      int _ = fd < 0 ? 0 : (int) CLOSE.invokeExact(fd);
      if (entered < 0) {
        throw new IOException("cannot enter network namespace " + name);
      }
    } catch (IOException | RuntimeException | Error thrown) {
      throw thrown;
    } catch (Throwable impossible) {
      throw new AssertionError(impossible); // the calls throw nothing
    }
  }

  @SuppressWarnings("restricted")
  private static MethodHandle link(String function, FunctionDescriptor type) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(linker.defaultLookup().findOrThrow(function), type);
  }
}
