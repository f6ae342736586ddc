package ipmasq.netlink;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteOrder;

/**
 * All system calls go through {@code syscall(2)}, with pointers passed as addresses. Numbers are
 * per architecture.
 *
 * <p>Each native signature takes Java about ten milliseconds to link, so there is only one.
 */
final class Syscalls {
  // The kernel's __NR_close and so on, from asm/unistd.h.
  static final long CLOSE = number(3, 57);
  static final long SOCKET = number(41, 198);
  static final long CONNECT = number(42, 203);
  static final long SENDTO = number(44, 206);
  static final long RECVFROM = number(45, 207);
  static final long GETSOCKNAME = number(51, 204);
  static final long SETSOCKOPT = number(54, 208);
  static final long GETSOCKOPT = number(55, 209);

  private static final MethodHandle SYSCALL = link(Linker.Option.captureCallState("errno"));

  private Syscalls() {}

  /** The number of a call on this architecture. */
  static long number(int x86, int aarch64) {
    String architecture = System.getProperty("os.arch");
    return switch (architecture) {
      case "amd64", "x86_64" -> x86;
      case "aarch64" -> aarch64;
      default -> throw new UnsupportedOperationException("system calls on " + architecture);
    };
  }

  @SuppressWarnings("restricted") // native access is what this module is for
  private static MethodHandle link(Linker.Option... options) {
    Linker linker = Linker.nativeLinker();
    ValueLayout.OfLong word = ValueLayout.JAVA_LONG;
    return linker.downcallHandle(
        linker.defaultLookup().findOrThrow("syscall"),
        FunctionDescriptor.of(word, word, word, word, word, word, word, word),
        options);
  }

  /** The call's result, or minus errno. */
  static long call(long number, long a, long b, long c, long d, long e, long f) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment captured = arena.allocate(Linker.Option.captureStateLayout());
      long result = (long) SYSCALL.invokeExact(captured, number, a, b, c, d, e, f);
      // The layout's only member. A buffer starts faster than a var handle.
      return result == -1
          ? -captured.asByteBuffer().order(ByteOrder.nativeOrder()).getInt(0)
          : result;
    } catch (RuntimeException | Error thrown) {
      throw thrown;
    } catch (Throwable impossible) {
      throw new AssertionError(impossible); // the call itself throws nothing
    }
  }
}
