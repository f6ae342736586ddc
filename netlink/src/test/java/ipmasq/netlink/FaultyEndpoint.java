package ipmasq.netlink;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.LongSupplier;

/** A real socket whose calls go wrong as told, one fault a call. Used by one thread. */
final class FaultyEndpoint extends Endpoint {
  /** What becomes of a call. */
  interface Fault {
    long of(LongSupplier real);

    /** The call goes well. */
    static Fault none() {
      return LongSupplier::getAsLong;
    }

    /** The call does nothing and says this. */
    static Fault instead(Errno errno) {
      return _ -> -errno.number();
    }

    /** The call does its work and says this all the same. */
    static Fault after(Errno errno) {
      return real -> {
        real.getAsLong();
        return -errno.number();
      };
    }

    /** Only so much of what was received is there. */
    static Fault cut(int bytes) {
      return real -> Math.min(real.getAsLong(), bytes);
    }

    /** A datagram that says to be longer than any buffer. */
    static Fault endless() {
      return real -> real.getAsLong() + (1 << 20);
    }
  }

  private final Queue<Fault> sending = new ArrayDeque<>();
  private final Queue<Fault> receiving = new ArrayDeque<>();

  private FaultyEndpoint() throws NetlinkUnavailable {
    super(NetlinkSocket.NETLINK_NETFILTER, Duration.ofMillis(200));
  }

  static FaultyEndpoint open() throws NetlinkUnavailable {
    return new FaultyEndpoint();
  }

  FaultyEndpoint sending(Fault fault) {
    sending.add(fault);
    return this;
  }

  FaultyEndpoint receiving(Fault fault) {
    receiving.add(fault);
    return this;
  }

  @Override
  long call(long number, long a, long b, long c, long d, long e, long f) {
    return troubled(number, () -> super.call(number, a, b, c, d, e, f));
  }

  private long troubled(long number, LongSupplier real) {
    Fault fault =
        number == Syscalls.SENDTO
            ? sending.poll()
            : number == Syscalls.RECVFROM ? receiving.poll() : null;
    return fault == null ? real.getAsLong() : fault.of(real);
  }
}
