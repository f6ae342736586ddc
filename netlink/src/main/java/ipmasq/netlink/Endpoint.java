package ipmasq.netlink;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;

/**
 * The socket as the kernel knows it: a descriptor and the system calls on it. Used by one thread at
 * a time. Results below zero are minus errno.
 */
final class Endpoint implements AutoCloseable {
  private static final int AF_NETLINK = 16;
  private static final int SOCK_RAW_CLOEXEC = 3 | 0x80000;
  private static final int SOL_SOCKET = 1;
  private static final int SO_SNDBUF = 7;
  private static final int SO_RCVBUF = 8;
  private static final int SO_RCVTIMEO = 20;
  private static final int SO_SNDBUFFORCE = 32;
  private static final int SO_RCVBUFFORCE = 33;
  private static final int SOL_NETLINK = 270;
  private static final int NETLINK_CAP_ACK = 10;
  private static final int NETLINK_EXT_ACK = 11;
  private static final int MSG_TRUNC = 0x20;
  private static final int MSG_DONTWAIT = 0x40;

  /** {@code sockaddr_nl}: family 2, padding 2, port 4, groups 4. */
  private static final int ADDRESS = 12;

  /** What the kernel grants without asking; never less, and the exact figure does not matter. */
  private static final int SURE_TO_BE_SENT = 32 << 10;

  /** What a refusal takes of the receive buffer, generously. */
  private static final int REFUSAL = 2 << 10;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment captured = arena.allocate(Syscalls.CAPTURED);
  private final MemorySegment address = arena.allocate(ADDRESS, 4);
  private final MemorySegment option = arena.allocate(16, 8);
  private final MemorySegment kept;
  private final int descriptor;
  private int port;
  private int sendRoom = SURE_TO_BE_SENT;
  private int receiveRoom;

  private Endpoint(int protocol, int keep) throws NetlinkUnavailable {
    kept = arena.allocate(keep, 8);
    long result = call(Syscalls.SOCKET, AF_NETLINK, SOCK_RAW_CLOEXEC, protocol, 0, 0, 0);
    if (result < 0) {
      arena.close();
      throw new NetlinkUnavailable("socket", Errno.of(result));
    }
    descriptor = (int) result;
  }

  static Endpoint open(int protocol, Duration timeout, int keep) throws NetlinkUnavailable {
    Endpoint endpoint = new Endpoint(protocol, keep);
    try {
      endpoint.bind();
      endpoint.timeout(timeout);
      // Refusals without the refused message, which may have 64 KiB, but with the kernel's words.
      // A kernel too old for one of them does without.
      endpoint.option(SOL_NETLINK, NETLINK_CAP_ACK, 1);
      endpoint.option(SOL_NETLINK, NETLINK_EXT_ACK, 1);
      return endpoint;
    } catch (NetlinkUnavailable e) {
      endpoint.close();
      throw e;
    }
  }

  private void bind() throws NetlinkUnavailable {
    address.fill((byte) 0);
    address.set(ValueLayout.JAVA_SHORT, 0, (short) AF_NETLINK);
    check("bind", call(Syscalls.BIND, descriptor, address.address(), ADDRESS, 0, 0, 0));
    option.set(ValueLayout.JAVA_INT, 0, ADDRESS);
    check(
        "getsockname",
        call(Syscalls.GETSOCKNAME, descriptor, address.address(), option.address(), 0, 0, 0));
    port = address.get(ValueLayout.JAVA_INT, 4);
  }

  private void timeout(Duration timeout) throws NetlinkUnavailable {
    option.set(ValueLayout.JAVA_LONG, 0, timeout.toSeconds());
    option.set(ValueLayout.JAVA_LONG, 8, timeout.toNanosPart() / 1000);
    check(
        "setsockopt",
        call(Syscalls.SETSOCKOPT, descriptor, SOL_SOCKET, SO_RCVTIMEO, option.address(), 16, 0));
  }

  private static void check(String step, long result) throws NetlinkUnavailable {
    if (result < 0) {
      throw new NetlinkUnavailable(step, Errno.of(result));
    }
  }

  int port() {
    return port;
  }

  /** Memory that lives as long as the socket, for what is small and frequent. */
  MemorySegment kept() {
    return kept;
  }

  /** Makes room for a packet. It is a limit, not a buffer: it costs nothing to leave it high. */
  void sendRoom(int size) {
    if (size > sendRoom - 64) {
      force(SO_SNDBUFFORCE, SO_SNDBUF, size);
      sendRoom = size;
    }
  }

  /** Makes room for so many refusals. */
  void receiveRoom(int refusals) {
    if (refusals > receiveRoom) {
      force(SO_RCVBUFFORCE, SO_RCVBUF, refusals * REFUSAL);
      receiveRoom = refusals;
    }
  }

  /** Without the privilege to go past the system's limit, goes up to it. */
  private void force(int forced, int within, int size) {
    if (option(SOL_SOCKET, forced, size) < 0) {
      option(SOL_SOCKET, within, size);
    }
  }

  private long option(int level, int name, int value) {
    option.set(ValueLayout.JAVA_INT, 0, value);
    return call(Syscalls.SETSOCKOPT, descriptor, level, name, option.address(), 4, 0);
  }

  /** Sends one message. */
  long send(byte[] message, int length, int sequence) {
    if (length > kept.byteSize()) {
      try (Arena once = Arena.ofConfined()) {
        return send(message, length, sequence, once.allocate(length, 8));
      }
    }
    return send(message, length, sequence, kept);
  }

  private long send(byte[] message, int length, int sequence, MemorySegment memory) {
    MemorySegment.copy(message, 0, memory, ValueLayout.JAVA_BYTE, 0, length);
    memory.set(ValueLayout.JAVA_INT, 8, sequence);
    return send(memory, length);
  }

  /** Sends many messages, numbered from {@code sequence} on. */
  long send(Packet packet, int sequence) {
    try (Arena once = Arena.ofConfined()) {
      MemorySegment memory = once.allocate(packet.size(), 8);
      packet.copyTo(memory, sequence);
      return send(memory, packet.size());
    }
  }

  private long send(MemorySegment memory, int length) {
    long result;
    do {
      result = call(Syscalls.SENDTO, descriptor, memory.address(), length, 0, 0, 0);
    } while (result == -Errno.EINTR.number());
    return result;
  }

  /**
   * Receives one datagram and copies it to the heap.
   *
   * @return its true length, which is more than the buffer's where it did not fit
   */
  long receive(MemorySegment memory, byte[] buffer, boolean wait) {
    int flags = MSG_TRUNC | (wait ? 0 : MSG_DONTWAIT);
    while (true) {
      option.set(ValueLayout.JAVA_INT, 0, ADDRESS);
      long result =
          call(
              Syscalls.RECVFROM,
              descriptor,
              memory.address(),
              buffer.length,
              flags,
              address.address(),
              option.address());
      boolean fromKernel = result < 0 || address.get(ValueLayout.JAVA_INT, 4) == 0;
      if (fromKernel && result != -Errno.EINTR.number()) {
        int length = Math.clamp(result, 0, buffer.length);
        MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, 0, buffer, 0, length);
        return result;
      }
    }
  }

  private long call(long number, long a, long b, long c, long d, long e, long f) {
    return Syscalls.call(captured, number, a, b, c, d, e, f);
  }

  @Override
  public void close() {
    if (arena.scope().isAlive()) {
      call(Syscalls.CLOSE, descriptor, 0, 0, 0, 0, 0);
      arena.close();
    }
  }
}
