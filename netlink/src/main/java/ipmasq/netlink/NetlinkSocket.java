package ipmasq.netlink;

import ipmasq.netlink.NetlinkFailure.Refused;
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

  /** No datagram is longer than this. */
  private static final int BUFFER = 32 << 10;

  private static final int FEW_REFUSALS = 64; // fit in any receive buffer

  private final Endpoint endpoint;
  private final byte[] buffer = new byte[BUFFER];
  private int sequence;

  /** Over a prepared endpoint. */
  NetlinkSocket(Endpoint endpoint) {
    this.endpoint = endpoint;
  }

  /** Opens a socket that waits at most {@code timeout} for an answer. */
  public static NetlinkSocket open(int protocol, Duration timeout) throws NetlinkUnavailable {
    return new NetlinkSocket(new Endpoint(protocol, timeout));
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
    /** Called with a message, which the next datagram overwrites. */
    void message(Message message) throws MalformedMessage;
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
    return new Listener(handler, () -> false).answer(request);
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
    return new Listener(handler, enough).answer(request.flag(NLM_F_DUMP));
  }

  /** The messages of the next datagram. */
  private Answer<List<Message>> datagram(boolean wait) {
    long got = endpoint.receive(buffer, wait);
    if (got == -Errno.EAGAIN.number()) {
      return new Answer.Failed<>(new NetlinkFailure.TimedOut());
    }
    if (got == -Errno.ENOBUFS.number()) {
      return new Answer.Failed<>(new NetlinkFailure.Overrun());
    }
    if (got < 0) {
      return new Answer.Failed<>(Refused.of(got));
    }
    if (got == 0 || got > buffer.length) {
      return new Answer.Failed<>(new NetlinkFailure.Malformed("a datagram of " + got + " bytes"));
    }
    try {
      return new Answer.Given<>(Message.in(buffer, (int) got));
    } catch (MalformedMessage malformed) {
      return new Answer.Failed<>(new NetlinkFailure.Malformed(malformed));
    }
  }

  /**
   * Sends messages in one call and returns what the kernel says about them: each refusal, and the
   * success of each message that asked for confirmation, in the order sent.
   */
  public Answer<List<Refused>> send(List<byte[]> messages) {
    if (messages.size() > FEW_REFUSALS) {
      endpoint.receiveRoom(messages.size());
    }
    int first = sequence + 1;
    sequence += messages.size();
    long sent = endpoint.send(messages, first);
    if (sent < 0) {
      return new Answer.Failed<>(Refused.of(sent));
    }
    List<Refused> said = new ArrayList<>();
    Optional<NetlinkFailure> lost = Optional.empty();
    while (true) {
      switch (datagram(false)) {
        case Answer.Given<List<Message>>(var answers) -> {
          try {
            for (Message answer : answers) {
              int message = answer.sequence() - first;
              if (answer.type() == Refused.NLMSG_ERROR
                  && message >= 0
                  && message < messages.size()) {
                said.add(Refused.read(answer, message));
              }
            }
          } catch (MalformedMessage malformed) {
            lost = Optional.of(new NetlinkFailure.Malformed(malformed));
          }
        }
        case Answer.Failed<List<Message>>(NetlinkFailure.TimedOut _) -> {
          return Answer.of(lost, () -> said); // all answers were there when the call returned
        }
        case Answer.Failed<List<Message>>(Refused refused) -> {
          return new Answer.Failed<>(refused);
        }
        case Answer.Failed<List<Message>>(var failure) -> lost = Optional.of(failure);
      }
    }
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
      switch (datagram(true)) {
        case Answer.Given<List<Message>>(var arrived) -> {
          try {
            for (int i = 0; i < arrived.size() && messages < most; i++) {
              handler.message(arrived.get(i));
              messages++;
            }
          } catch (MalformedMessage malformed) {
            return new Answer.Failed<>(new NetlinkFailure.Malformed(malformed));
          }
        }
        case Answer.Failed<List<Message>>(NetlinkFailure.Overrun _) -> lost = true;
        case Answer.Failed<List<Message>>(NetlinkFailure.TimedOut _) -> {}
        case Answer.Failed<List<Message>>(var failure) -> {
          return new Answer.Failed<>(failure);
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

    Optional<NetlinkFailure> answer(MessageWriter request) {
      long sent = endpoint.send(List.of(request.message()), ++sequence);
      if (sent < 0) {
        return Optional.of(Refused.of(sent));
      }
      boolean more = true;
      while (more) {
        switch (datagram(true)) {
          case Answer.Given<List<Message>>(var messages) -> {
            for (Message message : messages) {
              more &= message.sequence() != sequence || message(message);
            }
            more &= !enough.getAsBoolean();
          }
          case Answer.Failed<List<Message>>(var why) -> {
            fail(why);
            more = !(why instanceof NetlinkFailure.TimedOut) && !(why instanceof Refused);
          }
        }
      }
      if (bug != null) {
        throw bug;
      }
      return failure;
    }

    /** Whether more messages follow. */
    private boolean message(Message message) {
      if ((message.flags() & NLM_F_DUMP_INTR) != 0) {
        fail(new NetlinkFailure.Interrupted());
      }
      try {
        switch (message.type()) {
          case Refused.NLMSG_ERROR, Refused.NLMSG_DONE -> {
            if (message.type() == Refused.NLMSG_ERROR || message.payload() >= 4) {
              Refused refused = Refused.read(message, 0);
              if (!refused.errno().is(Errno.NONE)) {
                fail(refused);
              }
            }
            return false;
          }
          case NLMSG_OVERRUN -> {
            fail(new NetlinkFailure.Overrun());
            return true;
          }
          default -> {
            if (failure.isEmpty() && bug == null) {
              handler.message(message);
            }
          }
        }
      } catch (MalformedMessage malformed) {
        fail(new NetlinkFailure.Malformed(malformed));
      } catch (RuntimeException e) {
        bug = e;
      }
      return (message.flags() & NLM_F_MULTI) != 0;
    }

    private void fail(NetlinkFailure what) {
      if (failure.isEmpty()) {
        failure = Optional.of(what);
      }
    }
  }
}
