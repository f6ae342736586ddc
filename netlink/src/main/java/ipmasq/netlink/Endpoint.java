package ipmasq.netlink;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;

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

  /** Freed by the garbage collector: closing a shared arena would briefly stop all threads. */
  private final Arena arena = Arena.ofAuto();

  private final MemorySegment captured = arena.allocate(Syscalls.CAPTURED);
  private final MemorySegment address = arena.allocate(SIZEOF_SOCKADDR_NL, 4);
  private final MemorySegment option = arena.allocate(16, 8);
  private final ByteBuffer addressBytes = bytes(address);
  private final ByteBuffer optionBytes = bytes(option);
  private final MemorySegment kept;
  private final int descriptor;
  private int port;
  private int sendRoom = SURE_TO_BE_SENT;
  private int receiveRoom;
  private boolean closed;

  Endpoint(int protocol, int keep) throws NetlinkUnavailable {
    kept = arena.allocate(keep, 8);
    long result =
        Syscalls.call(
            captured, Syscalls.SOCKET, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol, 0, 0, 0);
    if (result < 0) {
      throw new NetlinkUnavailable("socket", Errno.of(result));
    }
    descriptor = (int) result;
  }

  static Endpoint open(int protocol, Duration timeout, int keep) throws NetlinkUnavailable {
    return new Endpoint(protocol, keep).prepared(timeout);
  }

  final Endpoint prepared(Duration timeout) throws NetlinkUnavailable {
    try {
      connect();
      timeout(timeout);
      // Refusals without a copy of the refused message (up to 64 KiB) but with the kernel's text.
      // Kernels too old for an option work without it.
      option(SOL_NETLINK, NETLINK_CAP_ACK, 1);
      option(SOL_NETLINK, NETLINK_EXT_ACK, 1);
      return this;
    } catch (NetlinkUnavailable e) {
      close();
      throw e;
    }
  }

  /** Connects to the kernel, so that messages from other processes are not received. */
  private void connect() throws NetlinkUnavailable {
    addressBytes.putShort(0, (short) AF_NETLINK);
    check(
        "connect",
        call(Syscalls.CONNECT, descriptor, address.address(), SIZEOF_SOCKADDR_NL, 0, 0, 0));
    optionBytes.putInt(0, SIZEOF_SOCKADDR_NL);
    check(
        "getsockname",
        call(Syscalls.GETSOCKNAME, descriptor, address.address(), option.address(), 0, 0, 0));
    port = addressBytes.getInt(4);
  }

  private void timeout(Duration timeout) throws NetlinkUnavailable {
    optionBytes.putLong(0, timeout.toSeconds());
    optionBytes.putLong(8, timeout.toNanosPart() / 1000);
    check(
        "setsockopt",
        call(Syscalls.SETSOCKOPT, descriptor, SOL_SOCKET, SO_RCVTIMEO, option.address(), 16, 0));
  }

  /** From now on the messages to a multicast group arrive here too. */
  final void join(int group) throws NetlinkUnavailable {
    check("group " + group, option(SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, group));
  }

  /** Buffers start faster than layout var handles. */
  private static ByteBuffer bytes(MemorySegment memory) {
    return memory.asByteBuffer().order(ByteOrder.nativeOrder());
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

  /** Makes room for a packet. This is a limit, not an allocation: leaving it high costs nothing. */
  void sendRoom(int size) {
    if (size > sendRoom - 64) {
      force(SO_SNDBUFFORCE, SO_SNDBUF, size);
      sendRoom = size;
    }
  }

  /** Makes room for this many refusals, or other short messages. */
  void receiveRoom(int refusals) {
    if (refusals > receiveRoom) {
      force(SO_RCVBUFFORCE, SO_RCVBUF, refusals * REFUSAL);
      receiveRoom = refusals;
    }
  }

  /** Without the privilege to exceed the system's limit, goes up to it. */
  private void force(int forced, int within, int size) {
    if (option(SOL_SOCKET, forced, size) < 0) {
      option(SOL_SOCKET, within, size);
    }
  }

  private long option(int level, int name, int value) {
    optionBytes.putInt(0, value);
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
    MessageWriter.number(message, sequence);
    MemorySegment.copy(message, 0, memory, ValueLayout.JAVA_BYTE, 0, length);
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
   * @return its full length, which exceeds the buffer's if it did not fit
   */
  long receive(MemorySegment memory, byte[] buffer, boolean wait) {
    int flags = MSG_TRUNC | (wait ? 0 : MSG_DONTWAIT);
    long result;
    do {
      result = call(Syscalls.RECVFROM, descriptor, memory.address(), buffer.length, flags, 0, 0);
    } while (result == -Errno.EINTR.number());
    int length = Math.clamp(result, 0, buffer.length);
    MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, 0, buffer, 0, length);
    return result;
  }

  long call(long number, long a, long b, long c, long d, long e, long f) {
    requireOpen();
    return Syscalls.call(captured, number, a, b, c, d, e, f);
  }

  private void requireOpen() {
    if (closed) { // the descriptor may have been reused
      throw new IllegalStateException("this socket was closed");
    }
  }

  @Override
  public void close() {
    if (!closed) {
      call(Syscalls.CLOSE, descriptor, 0, 0, 0, 0, 0);
      closed = true;
    }
  }
}
