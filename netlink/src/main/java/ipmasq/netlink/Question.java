package ipmasq.netlink;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A question that is asked several times a second for as long as the process lives, and answered by
 * one number: the first attribute of a netfilter message.
 *
 * <p>It stands where the kernel reads it and the answer is read where the kernel wrote it, with
 * nothing copied in between. Such a process runs most of its code too seldom for it ever to be
 * compiled, so each step that can be left out counts.
 *
 * <pre>
 *   | length 4 | type 2 | flags 2 | sequence 4 | port 4 | netfilter 4 | length 2 | type 2 | value 4 |
 * </pre>
 */
public final class Question {
  private static final int ROOM = 128;
  private static final int TYPE = 4;
  private static final int SEQUENCE = 8;
  private static final int ATTRIBUTE = 20;
  private static final int VALUE = 24;
  private static final int SHORTEST = 28;

  private final Endpoint endpoint;
  private final ByteBuffer request;
  private final ByteBuffer answer;
  private final long requestAddress;
  private final long answerAddress;
  private final int length;
  private final int type;
  private final int attribute;

  Question(Endpoint endpoint, Arena arena, MessageWriter message, int type, int attribute) {
    this.endpoint = endpoint;
    this.length = message.length();
    this.type = type;
    this.attribute = attribute << 16 | 8; // with the length of its four bytes and its header
    MemorySegment out = arena.allocate(length, 8);
    MemorySegment in = arena.allocate(ROOM, 8);
    request = out.asByteBuffer().order(ByteOrder.nativeOrder());
    answer = in.asByteBuffer().order(ByteOrder.nativeOrder());
    requestAddress = out.address();
    answerAddress = in.address();
    request.put(0, message.seal(), 0, length);
  }

  /**
   * The number, unsigned; -1 where the answer is any other than the one hoped for. Whoever asked
   * then asks in the usual way, and hears why.
   */
  long ask(int sequence) {
    request.putInt(SEQUENCE, sequence);
    long got = endpoint.exchange(requestAddress, length, answerAddress, ROOM);
    boolean hopedFor =
        got >= SHORTEST
            && answer.getInt(SEQUENCE) == sequence
            && answer.getShort(TYPE) == type
            && answer.getInt(ATTRIBUTE) == attribute;
    return hopedFor ? Integer.toUnsignedLong(Integer.reverseBytes(answer.getInt(VALUE))) : -1;
  }
}
