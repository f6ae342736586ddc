package ipmasq.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.nio.ByteBuffer;

/**
 * IPv4 packets on an Ethernet cable, laid out so that the kernel takes many in one call:
 *
 * <pre>
 *   mmsghdr | mmsghdr | …         64 bytes each, the address of an iovec at 16
 *   iovec   | iovec   | …         address 8, length 8
 *   frame   | frame   | …         Ethernet 14, IPv4 20, then UDP with 8 bytes or a TCP SYN
 * </pre>
 */
final class Frames {
  private static final int SIZEOF_MMSGHDR = 64;
  private static final int SIZEOF_IOVEC = 16;
  private static final int FRAME = 64;
  private static final int ETH_HLEN = 14;
  private static final int SIZEOF_IPHDR = 20;
  private static final int IPPROTO_UDP = 17;
  private static final int IPPROTO_TCP = 6;

  private final MemorySegment memory;
  private final int count;
  private final byte[] toMac;
  private final byte[] fromMac;
  private final byte[] source;
  private int filled;

  Frames(Arena arena, int count, byte[] toMac, byte[] fromMac, InetAddress source) {
    this.memory = arena.allocate((long) count * (SIZEOF_MMSGHDR + SIZEOF_IOVEC + FRAME), 64);
    this.count = count;
    this.toMac = toMac;
    this.fromMac = fromMac;
    this.source = source.getAddress();
  }

  int count() {
    return count;
  }

  /** Where the kernel finds those from this one on. */
  MemorySegment from(int first) {
    return memory.asSlice((long) first * SIZEOF_MMSGHDR);
  }

  /** Empties it, for others to be put there. */
  void clear() {
    filled = 0;
  }

  void udp(int sourcePort, InetAddress to, int port) {
    ByteBuffer transport = ByteBuffer.allocate(16);
    // No checksum: IPv4 allows it, and the kernel has one thing less to mend.
    transport.putShort((short) sourcePort).putShort((short) port).putShort((short) 16);
    add(IPPROTO_UDP, to, transport);
  }

  /** A SYN; connection tracking lets none pass whose checksum is wrong. */
  void syn(int sourcePort, InetAddress to, int port) {
    ByteBuffer transport = ByteBuffer.allocate(20);
    transport.putShort((short) sourcePort).putShort((short) port).putInt(1).putInt(0);
    transport.put((byte) (5 << 4)).put((byte) 2).putShort((short) 0xffff);
    ByteBuffer summed = ByteBuffer.allocate(12 + 20);
    summed.put(source).put(to.getAddress()).putShort((short) IPPROTO_TCP).putShort((short) 20);
    summed.put(transport.array());
    transport.putShort(16, checksum(summed));
    add(IPPROTO_TCP, to, transport);
  }

  private void add(int protocol, InetAddress to, ByteBuffer transport) {
    int length = ETH_HLEN + SIZEOF_IPHDR + transport.capacity();
    ByteBuffer frame = ByteBuffer.allocate(length);
    frame.put(toMac).put(fromMac).putShort((short) 0x0800);
    ByteBuffer ip = ByteBuffer.allocate(SIZEOF_IPHDR);
    ip.put((byte) 0x45)
        .put((byte) 0)
        .putShort((short) (SIZEOF_IPHDR + transport.capacity()))
        .putInt(0);
    ip.put((byte) 64).put((byte) protocol).putShort((short) 0).put(source).put(to.getAddress());
    ip.putShort(10, checksum(ip));
    frame.put(ip.array()).put(transport.array());

    long vector = (long) count * SIZEOF_MMSGHDR + (long) filled * SIZEOF_IOVEC;
    long at = (long) count * (SIZEOF_MMSGHDR + SIZEOF_IOVEC) + (long) filled * FRAME;
    MemorySegment.copy(frame.array(), 0, memory, ValueLayout.JAVA_BYTE, at, length);
    memory.set(ValueLayout.JAVA_LONG, vector, memory.address() + at);
    memory.set(ValueLayout.JAVA_LONG, vector + 8, length);
    long header = (long) filled * SIZEOF_MMSGHDR;
    memory.set(ValueLayout.JAVA_LONG, header + 16, memory.address() + vector);
    memory.set(ValueLayout.JAVA_LONG, header + 24, 1);
    filled++;
  }

  /** The Internet's checksum, of an even number of bytes. */
  static short checksum(ByteBuffer bytes) {
    byte[] all = bytes.array();
    int sum = 0;
    for (int i = 0; i < all.length; i += 2) {
      sum += (all[i] & 0xff) << 8 | all[i + 1] & 0xff;
    }
    sum = (sum >>> 16) + (sum & 0xffff);
    return (short) ~(sum + (sum >>> 16));
  }
}
