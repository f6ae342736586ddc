package ipmasq.netlink;

import ipmasq.netlink.NetlinkSocket.Received;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * What the kernel reports in one network namespace, that of the thread which opens this, as long as
 * it is open. Used by one thread.
 */
public final class Events<T> implements AutoCloseable {
  /** How late the end of the time may be noticed while nothing arrives. */
  private static final Duration STEP = Duration.ofMillis(100);

  private final NetlinkSocket socket;
  private final Reader<T> reader;

  /** Makes events of messages. */
  public interface Reader<T> {
    /** Empty: it is about something else. */
    Optional<T> read(Message message) throws MalformedMessage;
  }

  private Events(NetlinkSocket socket, Reader<T> reader) {
    this.socket = socket;
    this.reader = reader;
  }

  /**
   * Subscribes.
   *
   * @param room how many events may wait to be read before the kernel drops some
   */
  public static <T> Events<T> open(int group, int room, Reader<T> reader)
      throws NetlinkUnavailable {
    return new Events<>(NetlinkSocket.joined(group, room, STEP), reader);
  }

  /** Hands on what happens from now on, for so long and so many messages at most. */
  public Answer<Received> receive(Duration time, int most, Consumer<T> each) {
    return socket.receive(time, most, message -> reader.read(message).ifPresent(each));
  }

  /** Ends the subscription. */
  @Override
  public void close() {
    socket.close();
  }
}
