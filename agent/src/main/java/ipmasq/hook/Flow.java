package ipmasq.hook;

import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What is known of packets that reach the hook. They carry no mark, as packets of pods do unless
 * kube-proxy marked them, and go where they were sent to.
 *
 * @param sources blocks of which every address is meant; empty: not known
 * @param destination a block of which every address is meant
 * @param local whether the destination is the node itself
 * @param protocol {@code tcp}, {@code udp}, {@code sctp}, {@code icmp}; nothing: not known
 * @param interfaces names of those that they leave by, a trailing {@code +} for any ending; empty:
 *     not known
 */
public record Flow(
    List<Cidr> sources,
    Cidr destination,
    boolean local,
    Optional<String> protocol,
    OptionalInt port,
    List<String> interfaces) {
  public Flow {
    sources = List.copyOf(sources);
    interfaces = List.copyOf(interfaces);
  }

  /** Of which only the destination is known. */
  public static Flow to(Cidr destination) {
    return new Flow(
        List.of(), destination, false, Optional.empty(), OptionalInt.empty(), List.of());
  }

  public static Flow to(Ip destination) {
    return to(single(destination));
  }

  public static Cidr single(Ip ip) {
    return new Cidr(ip, ip.family().bits());
  }

  /** From anywhere in these blocks. */
  public Flow from(List<Cidr> newSources) {
    return new Flow(newSources, destination, local, protocol, port, interfaces);
  }

  /** By any of these interfaces. */
  public Flow via(List<String> names) {
    return new Flow(sources, destination, local, protocol, port, names);
  }

  Family family() {
    return destination.family();
  }
}
