package ipmasq.hook;

import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What is known of packets that reach the hook. They carry no mark, as packets of pods do unless
 * kube-proxy marked them.
 *
 * @param destination a block of which every address is meant
 * @param local whether the destination is the node itself
 * @param protocol {@code tcp}, {@code udp}, {@code sctp}, {@code icmp}; nothing: not known
 */
public record Flow(
    Optional<Cidr> source,
    Cidr destination,
    boolean local,
    Optional<String> protocol,
    OptionalInt port,
    Optional<String> outputInterface) {

  /** Of which only the destination is known. */
  public static Flow to(Cidr destination) {
    return new Flow(
        Optional.empty(),
        destination,
        false,
        Optional.empty(),
        OptionalInt.empty(),
        Optional.empty());
  }

  public static Flow to(Ip destination) {
    return to(single(destination));
  }

  public static Cidr single(Ip ip) {
    return new Cidr(ip, ip.family().bits());
  }

  public Flow from(Ip newSource) {
    return new Flow(
        Optional.of(single(newSource)), destination, local, protocol, port, outputInterface);
  }

  /** From anywhere in this block. */
  public Flow from(Cidr newSource) {
    return new Flow(Optional.of(newSource), destination, local, protocol, port, outputInterface);
  }

  public Flow via(String name) {
    return new Flow(source, destination, local, protocol, port, Optional.of(name));
  }

  Family family() {
    return destination.family();
  }
}
