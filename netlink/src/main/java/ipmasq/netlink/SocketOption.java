package ipmasq.netlink;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Asks a socket of IPv4 or IPv6 for an option: the way to the tables of iptables-legacy. Each
 * question has a socket of its own, which takes a few microseconds and leaves nothing to close.
 */
public final class SocketOption {
  private static final int SOCK_DGRAM = 2; // iptables takes a raw one, which needs NET_RAW
  private static final int SOCK_CLOEXEC = 0x80000;

  private SocketOption() {}

  /** Reads an answer, which is gone afterwards. */
  public interface AnswerReader<T> {
    T read(ByteBuffer answer) throws MalformedMessage;
  }

  /**
   * Asks for an option.
   *
   * @param domain {@code AF_INET} or {@code AF_INET6}
   * @param request how the question begins; the kernel overwrites it with the answer
   * @param size of the answer; what the kernel does not write of it is zero
   */
  public static <T> Answer<T> get(
      int domain, int level, int name, byte[] request, int size, AnswerReader<T> reader) {
    long socket = Syscalls.call(Syscalls.SOCKET, domain, SOCK_DGRAM | SOCK_CLOEXEC, 0, 0, 0, 0);
    if (socket < 0) {
      return new Answer.Failed<>(NetlinkFailure.Refused.of(socket));
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(size, 8);
      MemorySegment.copy(request, 0, memory, ValueLayout.JAVA_BYTE, 0, request.length);
      MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_INT, size);
      long result =
          Syscalls.call(
              Syscalls.GETSOCKOPT, socket, level, name, memory.address(), length.address(), 0);
      return result < 0
          ? new Answer.Failed<>(NetlinkFailure.Refused.of(result))
          : new Answer.Given<>(
              reader.read(memory.asByteBuffer().asReadOnlyBuffer().order(ByteOrder.nativeOrder())));
    } catch (MalformedMessage senseless) {
      return new Answer.Failed<>(new NetlinkFailure.Malformed(senseless));
    } finally {
      Syscalls.call(Syscalls.CLOSE, socket, 0, 0, 0, 0, 0);
    }
  }
}
