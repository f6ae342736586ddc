package ipmasq.netlink;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Lets one thread rest until time is over or another thread rings: a pair of sockets, of which one
 * is waited at and the other written to.
 *
 * <p>For a thread that wakes up a few times a second for as long as the process lives. Java's own
 * ways to wait take a precise timer and a good deal of seldom used code, which is cold each time:
 * they cost twice as much. The kernel's time limit of a socket is coarse, up to an eighth late, and
 * comes together with others of the node.
 */
public final class Bell {
  private static final int AF_UNIX = 1;
  private static final int SOCK_DGRAM_CLOEXEC = 2 | 0x80000;
  private static final int SOL_SOCKET = 1;
  private static final int SO_RCVTIMEO = 20;
  private static final int MSG_DONTWAIT = 0x40;

  /** Lives as long as the process: a thread that rings late must not ring at somebody else's. */
  private final Arena arena = Arena.global();

  private final long room = arena.allocate(8, 8).address();
  private final MemorySegment limit = arena.allocate(16, 8);
  private final ByteBuffer limitBytes = limit.asByteBuffer().order(ByteOrder.nativeOrder());
  private final int ear;
  private final int rope;
  private long limitMillis;

  private Bell(int ear, int rope) {
    this.ear = ear;
    this.rope = rope;
  }

  public static Bell hang() throws NetlinkUnavailable {
    try (Arena once = Arena.ofConfined()) {
      MemorySegment pair = once.allocate(8, 4);
      long result =
          Syscalls.call(Syscalls.SOCKETPAIR, AF_UNIX, SOCK_DGRAM_CLOEXEC, 0, pair.address(), 0, 0);
      if (result < 0) {
        throw new NetlinkUnavailable("socketpair", Errno.of(result));
      }
      ByteBuffer descriptors = pair.asByteBuffer().order(ByteOrder.nativeOrder());
      return new Bell(descriptors.getInt(0), descriptors.getInt(4));
    }
  }

  /** Waits for about so long, or until the bell rings; not at all where it has rung meanwhile. */
  public void await(long nanos) {
    long millis = nanos <= 0 ? 0 : 1 + (nanos - 1) / 1_000_000; // whole ones: mostly the same again
    if (millis > 0 && millis != limitMillis) {
      limitBytes.putLong(0, millis / 1_000).putLong(8, millis % 1_000 * 1_000);
      Syscalls.bare(Syscalls.SETSOCKOPT, ear, SOL_SOCKET, SO_RCVTIMEO, limit.address(), 16, 0);
      limitMillis = millis;
    }
    Syscalls.bare(Syscalls.RECVFROM, ear, room, 8, millis > 0 ? 0 : MSG_DONTWAIT, 0, 0);
  }

  /** For any thread. */
  public void ring() {
    // Where there is no room for it, it rings already.
    Syscalls.bare(Syscalls.SENDTO, rope, room, 1, MSG_DONTWAIT, 0, 0);
  }
}
