package ipmasq.netlink;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A socket to one of the kernel's netlink protocols. Used by one thread at a time.
 *
 * <p>The kernel handles a request within the call that sends it, so its answers are ready when that
 * call returns. The timeout is for protocols that answer later.
 *
 * <p>The socket stays in the network namespace of the thread that opened it.
 */
public final class NetlinkSocket implements AutoCloseable {
  /** The protocol of netfilter's subsystems: nf_tables, conntrack. */
  public static final int NETLINK_NETFILTER = 12;

  /** Flag that every request carries. */
  public static final int NLM_F_REQUEST = 0x1;

  /** Flag that asks for a confirmation of success too. */
  public static final int NLM_F_ACK = 0x4;

  private static final int NLM_F_DUMP = 0x300;
  private static final int NLM_F_MULTI = 0x2;
  private static final int NLM_F_DUMP_INTR = 0x10;
  private static final int NLMSG_OVERRUN = 0x4; // a type, not a flag

  /** No datagram of a list is longer than this. */
  private static final int LIST_BUFFER = 32 << 10;

  static final int SMALL_BUFFER = 4 << 10;
  private static final int FEW_REFUSALS = 64; // fit in any receive buffer

  private final Endpoint endpoint;
  private final byte[] small = new byte[SMALL_BUFFER];
  private final MessageReader reader = new MessageReader();
  private int sequence;

  /** Over a prepared endpoint. */
  NetlinkSocket(Endpoint endpoint) {
    this.endpoint = endpoint;
  }

  /** Opens a socket that waits at most {@code timeout} for an answer. */
  public static NetlinkSocket open(int protocol, Duration timeout) throws NetlinkUnavailable {
    return new NetlinkSocket(Endpoint.open(protocol, timeout, SMALL_BUFFER));
  }

  /**
   * Opens a netfilter socket that listens to a multicast group, with room for so many of its
   * messages that nobody has read yet. Needs CAP_NET_ADMIN.
   */
  public static NetlinkSocket joined(int group, int room, Duration timeout)
      throws NetlinkUnavailable {
    NetlinkSocket socket = open(NETLINK_NETFILTER, timeout);
    try {
      socket.endpoint.receiveRoom(room);
      socket.endpoint.join(group);
      return socket;
    } catch (NetlinkUnavailable refused) {
      socket.close();
      throw refused;
    }
  }

  /** Receives the messages of an answer, in order. */
  public interface Handler {
    /** Called with the reader at a message; the reader is reused for the next one. */
    void message(MessageReader message) throws MalformedMessage;
  }

  /** The port of this socket, which identifies the owner of a table. */
  public int port() {
    return endpoint.port();
  }

  /**
   * Sends one request and hands on the message that answers it, or none where the kernel only
   * confirms. Empty: all went well.
   */
  public Optional<NetlinkFailure> ask(MessageWriter request, Handler handler) {
    Optional<NetlinkFailure> unsent = post(request);
    return unsent.isPresent()
        ? unsent
        : new Listener(handler, () -> false).listen(small, endpoint.kept());
  }

  /** Sends one request for a list and hands on its entries. Empty: the list is whole. */
  public Optional<NetlinkFailure> list(MessageWriter request, Handler handler) {
    return list(request, handler, () -> false);
  }

  /**
   * The same, but stops when {@code enough} says so. The kernel then keeps the rest and starts no
   * other list on this socket, so close it.
   *
   * @param enough asked after each datagram
   */
  public Optional<NetlinkFailure> list(
      MessageWriter request, Handler handler, BooleanSupplier enough) {
    Optional<NetlinkFailure> unsent = post(request.flag(NLM_F_DUMP));
    if (unsent.isPresent()) {
      return unsent;
    }
    try (Arena arena = Arena.ofConfined()) {
      return new Listener(handler, enough)
          .listen(new byte[LIST_BUFFER], arena.allocate(LIST_BUFFER));
    }
  }

  private Optional<NetlinkFailure> post(MessageWriter request) {
    long sent = endpoint.send(request.seal(), request.length(), ++sequence);
    return sent < 0 ? Optional.of(refused(sent)) : Optional.empty();
  }

  private static NetlinkFailure refused(long result) {
    return new NetlinkFailure.Refused(Refusal.of(Errno.of(result)));
  }

  /**
   * Sends messages in one call and returns what the kernel says about them: each refusal, and the
   * success of each message that asked for confirmation, in the order sent.
   */
  public Answer<List<Refusal>> send(Packet packet) {
    endpoint.sendRoom(packet.size());
    if (packet.messages() > FEW_REFUSALS) {
      endpoint.receiveRoom(packet.messages());
    }
    int first = sequence + 1;
    sequence += packet.messages();
    long sent = endpoint.send(packet, first);
    if (sent < 0) {
      return new Answer.Failed<>(refused(sent));
    }
    List<Refusal> said = new ArrayList<>();
    boolean lost = false;
    while (true) {
      long got = endpoint.receive(endpoint.kept(), small, false);
      if (got == -Errno.EAGAIN.number()) {
        break; // all answers were there when the call returned
      }
      if (got == -Errno.ENOBUFS.number()) {
        lost = true;
      } else if (got < 0) {
        return new Answer.Failed<>(refused(got));
      } else {
        try {
          acknowledgements(got, first, packet.messages(), said);
        } catch (MalformedMessage malformed) {
          return new Answer.Failed<>(
              new NetlinkFailure.Malformed(String.valueOf(malformed.getMessage())));
        }
      }
    }
    return lost ? new Answer.Failed<>(new NetlinkFailure.Overrun()) : new Answer.Given<>(said);
  }

  private void acknowledgements(long length, int first, int messages, List<Refusal> said)
      throws MalformedMessage {
    reader.of(small, fits(length, small));
    while (reader.next()) {
      int message = reader.sequence() - first;
      if (reader.type() == Acknowledgement.NLMSG_ERROR && message >= 0 && message < messages) {
        said.add(Acknowledgement.of(reader, message));
      }
    }
  }

  private static int fits(long length, byte[] buffer) throws MalformedMessage {
    if (length > buffer.length) {
      throw new MalformedMessage(length + " bytes where " + buffer.length + " were expected");
    }
    return (int) length;
  }

  /**
   * What came of listening to groups.
   *
   * @param messages how many were handed on
   * @param lost whether the kernel dropped some because they came faster than they were read; how
   *     many, it does not say
   */
  public record Received(int messages, boolean lost) {}

  /** Hands on what arrives in the groups that were joined, for so long and so many at most. */
  public Answer<Received> receive(Duration time, int most, Handler handler) {
    long end = System.nanoTime() + time.toNanos();
    int messages = 0;
    boolean lost = false;
    while (messages < most && System.nanoTime() - end < 0) {
      long got = endpoint.receive(endpoint.kept(), small, true);
      if (got == -Errno.ENOBUFS.number()) {
        lost = true;
      } else if (got < 0 && got != -Errno.EAGAIN.number()) {
        return new Answer.Failed<>(refused(got));
      } else if (got > 0) {
        try {
          reader.of(small, fits(got, small));
          while (messages < most && reader.next()) {
            handler.message(reader);
            messages++;
          }
        } catch (MalformedMessage malformed) {
          return new Answer.Failed<>(
              new NetlinkFailure.Malformed(String.valueOf(malformed.getMessage())));
        }
      }
    }
    return new Answer.Given<>(new Received(messages, lost));
  }

  @Override
  public void close() {
    endpoint.close();
  }

  /** Reads one answer to its end whatever happens, so that the next one starts clean. */
  private final class Listener {
    private final Handler handler;
    private final BooleanSupplier enough;
    private Optional<NetlinkFailure> failure = Optional.empty();
    private @Nullable RuntimeException bug;

    Listener(Handler handler, BooleanSupplier enough) {
      this.handler = handler;
      this.enough = enough;
    }

    Optional<NetlinkFailure> listen(byte[] buffer, MemorySegment memory) {
      boolean more = true;
      while (more) {
        long got = endpoint.receive(memory, buffer, true);
        if (got == -Errno.EAGAIN.number()) {
          fail(new NetlinkFailure.TimedOut());
          more = false;
        } else if (got == -Errno.ENOBUFS.number()) {
          fail(new NetlinkFailure.Overrun());
        } else if (got < 0) {
          fail(NetlinkSocket.refused(got));
          more = false;
        } else {
          try {
            more = datagram(buffer, fits(got, buffer)) && !enough.getAsBoolean();
          } catch (MalformedMessage malformed) {
            fail(new NetlinkFailure.Malformed(String.valueOf(malformed.getMessage())));
          }
        }
      }
      if (bug != null) {
        throw bug;
      }
      return failure;
    }

    /** Whether more datagrams follow. */
    private boolean datagram(byte[] buffer, int length) throws MalformedMessage {
      boolean more = true;
      if (length == 0) {
        throw new MalformedMessage("nothing where a message should be");
      }
      reader.of(buffer, length);
      while (reader.next()) {
        if (reader.sequence() == sequence) {
          more &= message();
        }
      }
      return more;
    }

    private boolean message() throws MalformedMessage {
      if ((reader.flags() & NLM_F_DUMP_INTR) != 0) {
        fail(new NetlinkFailure.Interrupted());
      }
      switch (reader.type()) {
        case Acknowledgement.NLMSG_ERROR -> {
          refused();
          return false;
        }
        case Acknowledgement.NLMSG_DONE -> {
          if (reader.payload() >= 4) {
            refused();
          }
          return false;
        }
        case NLMSG_OVERRUN -> {
          fail(new NetlinkFailure.Overrun());
          return true;
        }
        default -> {
          handle();
          return (reader.flags() & NLM_F_MULTI) != 0;
        }
      }
    }

    private void refused() throws MalformedMessage {
      Refusal refusal = Acknowledgement.of(reader, 0);
      if (!refusal.errno().is(Errno.NONE)) {
        fail(new NetlinkFailure.Refused(refusal));
      }
    }

    private void handle() {
      if (failure.isPresent() || bug != null) {
        return;
      }
      try {
        handler.message(reader);
      } catch (MalformedMessage malformed) {
        fail(new NetlinkFailure.Malformed(String.valueOf(malformed.getMessage())));
      } catch (RuntimeException e) {
        bug = e;
      }
    }

    private void fail(NetlinkFailure what) {
      if (failure.isEmpty()) {
        failure = Optional.of(what);
      }
    }
  }
}
