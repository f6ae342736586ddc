package ipmasq.hook;

import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.net.Protocols;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A part of a set's lookup key.
 *
 * @param length in bytes; in a concatenated key each part is padded to a multiple of four
 */
public record SetKey(KeyPart part, int length) {
  /** Which part of the packet. */
  public enum KeyPart {
    SOURCE,
    DESTINATION,
    PROTOCOL,
    PORT,
    OUT
  }

  /** The bytes for these packets; empty if they differ between packets. */
  private Optional<byte[]> bytes(Flow flow) {
    return switch (part) {
      case SOURCE -> flow.sources().flatMap(AddressRanges::single).map(Ip::bytes);
      case DESTINATION -> single(flow.destination()).map(Ip::bytes);
      case PROTOCOL -> flow.protocol().map(name -> new byte[] {(byte) Protocols.number(name)});
      case PORT ->
          flow.port().isEmpty()
              ? Optional.empty()
              : Optional.of(
                  new byte[] {(byte) (flow.port().getAsInt() >> 8), (byte) flow.port().getAsInt()});
      case OUT ->
          flow.interfaces().size() == 1 && !flow.interfaces().getFirst().endsWith("+")
              ? Optional.of(
                  Arrays.copyOf(
                      flow.interfaces().getFirst().getBytes(StandardCharsets.UTF_8), length))
              : Optional.empty();
    };
  }

  private static Optional<Ip> single(IpRange range) {
    return range.first().equals(range.last()) ? Optional.of(range.first()) : Optional.empty();
  }

  /** The key for these packets; empty if it is not a single one. */
  static Optional<byte[]> of(List<SetKey> keys, Flow flow) {
    int size = 0;
    for (SetKey key : keys) {
      size += keys.size() == 1 ? key.length : key.length + 3 & ~3;
    }
    byte[] whole = new byte[size];
    int at = 0;
    for (SetKey key : keys) {
      Optional<byte[]> bytes = key.bytes(flow);
      if (bytes.isEmpty() || bytes.get().length != key.length) {
        return Optional.empty();
      }
      System.arraycopy(bytes.get(), 0, whole, at, key.length);
      at += key.length + 3 & ~3;
    }
    return Optional.of(whole);
  }
}
