package ipmasq.hook;

import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.net.Protocols;
import ipmasq.policy.Policy.Treatment;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What is known of packets that reach the hook: the first of a connection, with their original
 * destination.
 *
 * @param sources the question is about all of these addresses; empty: unknown
 * @param ofNode whether they come from an address of the node itself
 * @param cameBy the interface that they came in by, if known
 * @param destination the question is about all of these addresses
 * @param local whether the destination is the node itself
 * @param protocol {@code tcp}, {@code udp}, {@code sctp}, {@code icmp}; empty: unknown
 * @param interfaces names of those that they may leave by, a trailing {@code +} matches any suffix;
 *     empty: unknown
 * @param wanted what our policy does with the destination, if already looked up
 */
public record Flow(
    Optional<AddressRanges> sources,
    Truth ofNode,
    Optional<String> cameBy,
    IpRange destination,
    boolean local,
    Optional<String> protocol,
    OptionalInt port,
    List<String> interfaces,
    Optional<Treatment> wanted) {
  public Flow {
    interfaces = List.copyOf(interfaces);
  }

  /** Packets from a pod of which only the destination is known. */
  public static Flow to(IpRange destination) {
    return new Flow(
        Optional.empty(),
        Truth.NO,
        Optional.empty(),
        destination,
        false,
        Optional.empty(),
        OptionalInt.empty(),
        List.of(),
        Optional.empty());
  }

  public static Flow to(Cidr destination) {
    return to(IpRange.of(destination));
  }

  public static Flow to(Ip destination) {
    return to(new IpRange(destination, destination));
  }

  /** From anywhere in these blocks; from anywhere at all if there are none. */
  public Flow from(List<Cidr> blocks) {
    Optional<AddressRanges> some =
        blocks.isEmpty() ? Optional.empty() : Optional.of(AddressRanges.ofBlocks(blocks));
    return new Flow(some, ofNode, cameBy, destination, local, protocol, port, interfaces, wanted);
  }

  /** From one address, by an interface. */
  public Flow from(Ip source, boolean isOfNode, Optional<String> by) {
    return new Flow(
        Optional.of(AddressRanges.of(new IpRange(source, source))),
        Truth.of(isOfNode),
        isOfNode ? Optional.empty() : by,
        destination,
        local,
        protocol,
        port,
        interfaces,
        wanted);
  }

  /** By any of these interfaces. */
  public Flow via(List<String> names) {
    return new Flow(sources, ofNode, cameBy, destination, local, protocol, port, names, wanted);
  }

  /** The same before it is known how they leave. */
  Flow beforeRouting() {
    return via(List.of("")); // no rule's name matches it
  }

  /** The same where other interfaces may be seen than those of the node's routing. */
  Flow onAnyLink() {
    return new Flow(
        sources, ofNode, Optional.empty(), destination, local, protocol, port, List.of(), wanted);
  }

  /** To a port of a protocol, as far as known. */
  public Flow by(Optional<String> newProtocol, OptionalInt newPort) {
    return new Flow(
        sources,
        ofNode,
        cameBy,
        destination,
        local,
        newProtocol.map(name -> Protocols.of(name, family())),
        newPort,
        interfaces,
        wanted);
  }

  /** To the node itself, or not. */
  public Flow local(boolean isLocal) {
    return new Flow(
        sources, ofNode, cameBy, destination, isLocal, protocol, port, interfaces, wanted);
  }

  /** To other destinations, with our policy's treatment of them. */
  Flow to(IpRange range, Treatment treatment) {
    return new Flow(
        sources, ofNode, cameBy, range, local, protocol, port, interfaces, Optional.of(treatment));
  }

  Family family() {
    return destination.family();
  }
}
