package ipmasq.netlink;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.List;

/**
 * The socket as the kernel knows it: a descriptor and the system calls on it. Used by one thread at
 * a time. Results below zero are minus errno. Not final, so that tests can make calls fail.
 */
class Endpoint implements AutoCloseable {
  private static final int AF_NETLINK = 16;
  private static final int SOCK_RAW = 3;
  private static final int SOCK_CLOEXEC = 0x80000;
  private static final int SOL_SOCKET = 1;
  private static final int SO_SNDBUF = 7;
  private static final int SO_RCVBUF = 8;
  private static final int SO_RCVTIMEO = 20;
  private static final int SO_SNDBUFFORCE = 32;
  private static final int SO_RCVBUFFORCE = 33;
  private static final int SOL_NETLINK = 270;
  private static final int NETLINK_ADD_MEMBERSHIP = 1;
  private static final int NETLINK_CAP_ACK = 10;
  private static final int NETLINK_EXT_ACK = 11;
  private static final int MSG_TRUNC = 0x20;
  private static final int MSG_DONTWAIT = 0x40;

  /** {@code sockaddr_nl}: family 2, padding 2, port 4, groups 4. */
  private static final int SIZEOF_SOCKADDR_NL = 12;

  /** What every kernel accepts without a larger buffer; the exact figure does not matter. */
  private static final int SURE_TO_BE_SENT = 32 << 10;

  /** A generous estimate of what one refusal takes in the receive buffer. */
  private static final int REFUSAL = 2 << 10;

  private final int descriptor;
  private final int port;
  private int sendRoom = SURE_TO_BE_SENT;
  private boolean closed;

  /** Connects to the kernel, so that messages from other processes are not received. */
  Endpoint(int protocol, Duration timeout) throws NetlinkUnavailable {
    descriptor =
        (int)
            check(
                "socket",
                Syscalls.call(
                    Syscalls.SOCKET, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol, 0, 0, 0));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment address = arena.allocate(SIZEOF_SOCKADDR_NL + 4, 4);
      ByteBuffer bytes = address.asByteBuffer().order(ByteOrder.nativeOrder());
      bytes.putShort(0, (short) AF_NETLINK).putInt(SIZEOF_SOCKADDR_NL, SIZEOF_SOCKADDR_NL);
      long at = address.address();
      long size = at + SIZEOF_SOCKADDR_NL;
      check(
          "connect", Syscalls.call(Syscalls.CONNECT, descriptor, at, SIZEOF_SOCKADDR_NL, 0, 0, 0));
      check("getsockname", Syscalls.call(Syscalls.GETSOCKNAME, descriptor, at, size, 0, 0, 0));
      port = bytes.getInt(4);
      byte[] time =
          host(16).putLong(timeout.toSeconds()).putLong(timeout.toNanosPart() / 1000).array();
      check("setsockopt", option(SOL_SOCKET, SO_RCVTIMEO, time));
      // Refusals without a copy of the refused message (up to 64 KiB) but with the kernel's text.
      // Kernels too old for an option work without it.
      option(SOL_NETLINK, NETLINK_CAP_ACK, 1);
      option(SOL_NETLINK, NETLINK_EXT_ACK, 1);
    } catch (NetlinkUnavailable e) {
      Syscalls.call(Syscalls.CLOSE, descriptor, 0, 0, 0, 0, 0);
      throw e;
    }
  }

  private static ByteBuffer host(int size) {
    return ByteBuffer.allocate(size).order(ByteOrder.nativeOrder());
  }

  private static long check(String step, long result) throws NetlinkUnavailable {
    if (result < 0) {
      throw new NetlinkUnavailable(step, Errno.of(result));
    }
    return result;
  }

  private long option(int level, int name, int value) {
    return option(level, name, host(4).putInt(value).array());
  }

  private long option(int level, int name, byte[] value) {
    requireOpen();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(value.length, 8);
      MemorySegment.copy(value, 0, memory, ValueLayout.JAVA_BYTE, 0, value.length);
      return Syscalls.call(
          Syscalls.SETSOCKOPT, descriptor, level, name, memory.address(), value.length, 0);
    }
  }

  int port() {
    return port;
  }

  /** From now on the messages to a multicast group arrive here too. */
  final void join(int group) throws NetlinkUnavailable {
    check("group " + group, option(SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, group));
  }

  /** Makes room for this many refusals, or other short messages. */
  final void receiveRoom(int refusals) {
    force(SO_RCVBUFFORCE, SO_RCVBUF, refusals * REFUSAL);
  }

  /** Without the privilege to exceed the system's limit, goes up to it. */
  private void force(int forced, int within, int size) {
    if (option(SOL_SOCKET, forced, size) < 0) {
      option(SOL_SOCKET, within, size);
    }
  }

  /** Sends messages in one call, numbered from {@code sequence} on. */
  final long send(List<byte[]> messages, int sequence) {
    int size = messages.stream().mapToInt(message -> message.length + 3 & ~3).sum();
    if (size > sendRoom - 64) { // a limit, not an allocation: leaving it high costs nothing
      force(SO_SNDBUFFORCE, SO_SNDBUF, size);
      sendRoom = size;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(size, 8);
      ByteBuffer bytes = memory.asByteBuffer().order(ByteOrder.nativeOrder());
      int at = 0;
      for (int i = 0; i < messages.size(); i++) {
        byte[] message = messages.get(i);
        bytes.put(at, message).putInt(at + 8, sequence + i);
        at += message.length + 3 & ~3;
      }
      return repeated(Syscalls.SENDTO, memory, size, 0);
    }
  }

  /**
   * Receives one datagram.
   *
   * @return its full length, which exceeds the buffer's if it did not fit
   */
  final long receive(byte[] buffer, boolean wait) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(buffer.length, 8);
      int flags = MSG_TRUNC | (wait ? 0 : MSG_DONTWAIT);
      long result = repeated(Syscalls.RECVFROM, memory, buffer.length, flags);
      int length = Math.clamp(result, 0, buffer.length);
      MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, 0, buffer, 0, length);
      return result;
    }
  }

  /** Calls again where a signal interrupted. */
  private long repeated(long number, MemorySegment memory, int size, int flags) {
    requireOpen();
    long result;
    do {
      result = call(number, descriptor, memory.address(), size, flags, 0, 0);
    } while (result == -Errno.EINTR.number());
    return result;
  }

  long call(long number, long a, long b, long c, long d, long e, long f) {
    return Syscalls.call(number, a, b, c, d, e, f);
  }

  private void requireOpen() {
    if (closed) { // the descriptor may have been reused
      throw new IllegalStateException("this socket was closed");
    }
  }

  @Override
  public void close() {
    if (!closed) {
      Syscalls.call(Syscalls.CLOSE, descriptor, 0, 0, 0, 0, 0);
      closed = true;
    }
  }
}
