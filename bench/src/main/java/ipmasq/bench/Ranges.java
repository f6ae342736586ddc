package ipmasq.bench;

import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.policy.Policy;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import ipmasq.policy.Translation;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * So many ranges of 16 addresses from 11.0.0.0 on, with a gap of 16 after each so that none can be
 * merged with the next. They are in order, as nobody promises; a set does not care, and a list is
 * walked in its order whatever that is.
 */
record Ranges(int count) {
  private static final int FIRST = 11 << 24;
  private static final int STEP = 32;
  private static final int SIZE = 16;

  /** Nowhere near any range: those end below 13.0.0.0 even when they are a million. */
  private static final int OUTSIDE = 64 << 24;

  private static final int OUTSIDE_SIZE = 1 << 24;

  List<Cidr> cidrs() {
    List<Cidr> cidrs = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      cidrs.add(new Cidr(Ip.ofBytes(bytes(FIRST + i * STEP)), 28));
    }
    return cidrs;
  }

  Policy policy() {
    List<Destination> destinations = new ArrayList<>(count + 1);
    destinations.add(new Destination(Family.IPV4.linkLocal(), Treatment.EXEMPT));
    cidrs().forEach(cidr -> destinations.add(new Destination(cidr, Treatment.EXEMPT)));
    return new Policy(
        Family.IPV4,
        List.of(),
        List.of(),
        destinations,
        new Translation(Optional.empty(), List.of(), true));
  }

  /** A config file with these ranges. */
  String config() {
    StringBuilder text = new StringBuilder("nonMasqueradeCIDRs:\n");
    for (int i = 0; i < count; i++) {
      text.append("- ").append(range(i)).append('\n');
    }
    return text.toString();
  }

  String range(int i) {
    int at = FIRST + i * STEP;
    return (at >>> 24) + "." + (at >> 16 & 255) + "." + (at >> 8 & 255) + "." + (at & 255) + "/28";
  }

  /** An address in the middle range. */
  InetAddress inside() {
    return address(FIRST + count / 2 * STEP + 1);
  }

  InetAddress inside(RandomGenerator random) {
    return address(FIRST + random.nextInt(count) * STEP + random.nextInt(SIZE));
  }

  /** An address in no range, nor anywhere near one. */
  static InetAddress outside() {
    return address(OUTSIDE + 1);
  }

  static InetAddress outside(RandomGenerator random) {
    return address(OUTSIDE + random.nextInt(OUTSIDE_SIZE));
  }

  private static InetAddress address(int value) {
    try {
      return InetAddress.getByAddress(bytes(value));
    } catch (UnknownHostException impossible) {
      throw new AssertionError(impossible);
    }
  }

  private static byte[] bytes(int value) {
    return new byte[] {
      (byte) (value >> 24), (byte) (value >> 16), (byte) (value >> 8), (byte) value
    };
  }
}
