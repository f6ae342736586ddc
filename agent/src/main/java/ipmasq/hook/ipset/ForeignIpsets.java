package ipmasq.hook.ipset;

import ipmasq.hook.AddressRanges;
import ipmasq.hook.Condition;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import ipmasq.net.Protocols;
import ipmasq.netlink.Answer;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.ipset.IpsetContent;
import ipmasq.netlink.ipset.IpsetElement;
import ipmasq.netlink.ipset.IpsetElement.IpsetBlock;
import ipmasq.netlink.ipset.Ipsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The ipsets that rules ask, for one look: each is read once, when a rule asks for it. Used by one
 * thread.
 *
 * <p>What cannot be followed is a condition that may hold: sets of types not listed here, with
 * timeouts or exceptions, with too many elements, or that a rule of the same look fills.
 */
public final class ForeignIpsets implements AutoCloseable {
  private static final int MOST_ELEMENTS = 4096;
  private static final int MOST_ALTERNATIVES = 256; // as in sets of nf_tables
  private static final int AF_INET = 2;
  private static final int AF_INET6 = 10;

  /** The types that are followed, and the number of parts that their elements have. */
  private static final Map<String, Integer> PARTS =
      Map.of(
          "hash:ip", 1,
          "hash:net", 1,
          "bitmap:ip", 1,
          "hash:ip,port", 2,
          "hash:net,port", 2,
          "hash:ip,port,ip", 3,
          "hash:ip,port,net", 3);

  private final boolean reads;
  private final Map<Integer, String> names = new HashMap<>();
  private final Map<String, Optional<IpsetContent>> contents = new HashMap<>();
  private final Map<MatchSet, Condition> meanings = new HashMap<>();
  private final Set<String> filled = new HashSet<>();
  private boolean late;
  private @Nullable Ipsets open;

  private ForeignIpsets(boolean reads) {
    this.reads = reads;
  }

  public static ForeignIpsets ofKernel() {
    return new ForeignIpsets(true);
  }

  /** None is read: all may match. */
  public static ForeignIpsets unread() {
    return new ForeignIpsets(false);
  }

  /** The name of the set that a rule has the index of; {@code #index} if it is unknown. */
  public String name(int index) {
    String name = names.get(index);
    if (name == null) {
      Optional<String> known = ask(ipsets -> ipsets.name(index));
      name = known.orElse("#" + index);
      names.put(index, name);
      if (known.isEmpty()) {
        contents.put(name, Optional.empty());
      }
    }
    return name;
  }

  /** Notes that a rule adds elements to a set or removes them, as packets pass. */
  public void fill(String name) {
    late |= filled.add(name) && contents.containsKey(name);
    meanings.keySet().removeIf(match -> match.name().equals(name));
  }

  /**
   * Whether a set was followed before the rule was seen that fills it: then all rules have to be
   * read again.
   */
  public boolean isOutdated() {
    boolean outdated = late;
    late = false;
    return outdated;
  }

  /** Whether a rule asked for the content of a set. */
  public boolean wereAsked() {
    return !contents.isEmpty();
  }

  /** What a match asks of the packet. All rules of a look are of one family. */
  public Condition meaning(MatchSet match, Family family) {
    return meanings.computeIfAbsent(match, _ -> read(match, family));
  }

  private Condition read(MatchSet match, Family family) {
    Optional<Condition> inside =
        reads && match.plain() && !filled.contains(match.name())
            ? content(match.name()).flatMap(set -> inside(set, match, family))
            : Optional.empty();
    if (inside.isEmpty()) {
      return new Condition.UnknownCondition(match.text());
    }
    if (inside.get().equals(Condition.AnyOf.NEVER)) {
      return match.inverted() ? Condition.AnyOf.ALWAYS : Condition.AnyOf.NEVER;
    }
    return inside.get().negatedIf(match.inverted());
  }

  private Optional<IpsetContent> content(String name) {
    return contents.computeIfAbsent(
        name,
        _ -> {
          Optional<IpsetContent> content = ask(ipsets -> ipsets.content(name, MOST_ELEMENTS));
          if (content.isPresent() && !content.get().whole()) {
            close(); // its socket is unusable now
          }
          return content.filter(IpsetContent::whole);
        });
  }

  /** Empty if the kernel does not tell. */
  private <T> Optional<T> ask(Function<Ipsets, Answer<T>> question) {
    if (!reads) {
      return Optional.empty();
    }
    try {
      Ipsets ipsets = open;
      if (ipsets == null) {
        ipsets = Ipsets.open();
        open = ipsets;
      }
      return question.apply(ipsets) instanceof Answer.Given<T>(var value)
          ? Optional.of(value)
          : Optional.empty();
    } catch (NetlinkUnavailable unavailable) {
      return Optional.empty();
    }
  }

  /** That a packet is in a set; empty if it cannot be followed. */
  private static Optional<Condition> inside(IpsetContent set, MatchSet match, Family family) {
    Integer parts = PARTS.get(set.type());
    boolean lasting =
        !set.expires() && !set.masked() && set.elements().stream().noneMatch(IpsetElement::except);
    if (parts == null || !lasting) {
      return Optional.empty();
    }
    // The kernel finds nothing in a set of the other family, or if a direction is missing.
    if (set.family() != (family == Family.IPV4 ? AF_INET : AF_INET6)
        || match.directions().size() < parts
        || set.elements().isEmpty()) {
      return Optional.of(Condition.AnyOf.NEVER);
    }
    try {
      return parts == 1 ? addresses(set, match) : alternatives(set, match);
    } catch (IllegalArgumentException odd) {
      return Optional.empty(); // not a block
    }
  }

  private static Optional<Condition> addresses(IpsetContent set, MatchSet match) {
    List<IpRange> ranges = new ArrayList<>();
    for (IpsetElement element : set.elements()) {
      if (element.first().isEmpty()) {
        return Optional.empty();
      }
      ranges.add(range(element.first().get()));
    }
    return Optional.of(end(AddressRanges.of(ranges), match.isSource(0)));
  }

  private static Optional<Condition> alternatives(IpsetContent set, MatchSet match) {
    if (set.elements().size() > MOST_ALTERNATIVES) {
      return Optional.empty();
    }
    List<List<Condition>> all = new ArrayList<>();
    for (IpsetElement element : set.elements()) {
      String protocol = Protocols.name(element.protocol());
      boolean hasPorts = List.of("tcp", "udp", "sctp").contains(protocol) && element.port() > 0;
      if (element.first().isEmpty() || !hasPorts) {
        return Optional.empty();
      }
      List<Condition> one = new ArrayList<>();
      one.add(end(AddressRanges.of(range(element.first().get())), match.isSource(0)));
      one.add(new Condition.Protocol(protocol));
      one.add(
          match.isSource(1)
              ? new Condition.SourcePort(String.valueOf(element.port()))
              : new Condition.Port(List.of(new PortRange(element.port(), element.port()))));
      element
          .second()
          .ifPresent(block -> one.add(end(AddressRanges.of(range(block)), match.isSource(2))));
      all.add(one);
    }
    return Optional.of(new Condition.AnyOf(all, "ipset " + match.name()));
  }

  private static Condition end(AddressRanges ranges, boolean source) {
    return source ? new Condition.Source(ranges) : new Condition.Destination(ranges);
  }

  private static IpRange range(IpsetBlock block) {
    return IpRange.of(new Cidr(Ip.ofBytes(block.address()), block.prefix()));
  }

  @Override
  public void close() {
    if (open != null) {
      open.close();
      open = null;
    }
  }
}
