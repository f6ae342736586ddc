package ipmasq.hook.nftables;

import ipmasq.hook.ipset.ForeignIpsets;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.net.Protocols;
import ipmasq.netlink.nftables.Bitwise;
import ipmasq.netlink.nftables.Cmp;
import ipmasq.netlink.nftables.Counter;
import ipmasq.netlink.nftables.Data;
import ipmasq.netlink.nftables.Expression;
import ipmasq.netlink.nftables.Immediate;
import ipmasq.netlink.nftables.InRange;
import ipmasq.netlink.nftables.Meta;
import ipmasq.netlink.nftables.Payload;
import ipmasq.netlink.nftables.Rule;
import ipmasq.netlink.nftables.SetMeta;
import ipmasq.netlink.nftables.Unknown;
import ipmasq.netlink.nftables.Verdict;
import ipmasq.netlink.nftables.Xtables;
import java.util.Arrays;

/**
 * Prints a rule of iptables-nft as {@code iptables -S} does. iptables-nft writes addresses,
 * interfaces, protocols and some matches as comparisons of nf_tables, the others as structures.
 */
final class IptablesText {
  /** iptables prints the generic options first, in this order. */
  private enum Generic {
    SOURCE,
    DESTINATION,
    IN,
    OUT,
    PROTOCOL,
    FRAGMENT
  }

  private final Family family;
  private final ForeignIpsets ipsets;
  private final Registers registers = new Registers();
  private final String[] generic = new String[Generic.values().length];
  private final StringBuilder matches = new StringBuilder();
  private String protocol = "";
  private String lastMatch = "";
  private String target = "";
  private boolean complete = true;

  private IptablesText(Family family, ForeignIpsets ipsets) {
    this.family = family;
    this.ipsets = ipsets;
    Arrays.fill(generic, "");
  }

  /** The rule; in nft's words if iptables has none for it. */
  static String of(Rule rule, Family family, ForeignIpsets ipsets) {
    IptablesText text = new IptablesText(family, ipsets);
    for (Expression expression : rule.expressions()) {
      text.step(expression);
    }
    if (!rule.comment().isEmpty()) {
      text.comment(rule.comment());
    }
    return text.complete
        ? "-A " + rule.chain() + String.join("", text.generic) + text.matches + text.target
        : rule.toString();
  }

  private void step(Expression expression) {
    switch (expression) {
      case Payload payload ->
          registers.load(payload.register(), RegisterContent.of(payload, family));
      case Meta(var to, var key) -> registers.load(to, RegisterContent.of(key));
      case Bitwise bitwise ->
          registers.load(bitwise.to(), registers.held(bitwise.from()).masked(bitwise));
      case Cmp(var register, var operator, var data) ->
          compared(registers.held(register), operator, data.bytes());
      case InRange range ->
          between(
              registers.held(range.register()),
              range.first().bytes(),
              range.last().bytes(),
              range.outside());
      case Counter _, Immediate _ -> {}
      case SetMeta(var _, var key) -> {
        target = " -j TRACE";
        complete &= key == Meta.MetaKey.NFTRACE;
      }
      case Verdict verdict -> target = verdict(verdict);
      case Xtables xtables -> xtables(xtables);
      case Unknown unknown -> unknown(unknown);
      default -> complete = false;
    }
  }

  private void xtables(Xtables xtables) {
    switch (xtables.kind()) {
      case MATCH -> {
        if (xtables.name().equals("comment")) {
          comment(XtDecoder.comment(xtables));
        } else {
          match("", " " + XtDecoder.match(xtables, family, ipsets).text());
        }
      }
      case TARGET -> target = " " + XtTarget.of(xtables, family).text();
    }
  }

  private void comment(String comment) {
    match("", " -m comment --comment " + XtInfo.quoted(comment));
  }

  /**
   * @param name the match that options of later comparisons may belong to as well
   */
  private void match(String name, String text) {
    matches.append(name.isEmpty() || name.equals(lastMatch) ? "" : " -m " + name).append(text);
    lastMatch = name;
  }

  private void unknown(Unknown unknown) {
    switch (unknown.name()) {
      case "limit" -> match("", " -m limit …");
      case "log" -> target = " -j NFLOG …";
      default -> complete = false;
    }
  }

  private static String verdict(Verdict verdict) {
    return switch (verdict.code()) {
      case JUMP -> " -j " + verdict.chain();
      case GOTO -> " -g " + verdict.chain();
      case CONTINUE -> "";
      case ACCEPT, DROP, RETURN -> " -j " + verdict.code();
    };
  }

  private void compared(RegisterContent field, Cmp.Operator operator, byte[] value) {
    int port = RegisterContent.port(value);
    switch (operator) {
      case EQ -> between(field, value, value, false);
      case NEQ -> between(field, value, value, true);
      case LTE -> between(field, Data.u16(0).bytes(), value, false);
      case GTE -> between(field, value, Data.u16(0xffff).bytes(), false);
      case LT -> between(field, Data.u16(0).bytes(), Data.u16(port - 1).bytes(), false);
      case GT -> between(field, Data.u16(port + 1).bytes(), Data.u16(0xffff).bytes(), false);
    }
  }

  private void between(RegisterContent field, byte[] first, byte[] last, boolean not) {
    boolean one = Arrays.equals(first, last);
    complete &= isMaskedAsUsual(field);
    switch (field.what()) {
      case PORT -> port("--dport ", first, last, not);
      case SOURCE_PORT -> port("--sport ", first, last, not);
      case SOURCE -> generic(one, Generic.SOURCE, not, "-s " + block(field, first));
      case DESTINATION -> generic(one, Generic.DESTINATION, not, "-d " + block(field, first));
      case IN -> generic(one, Generic.IN, not, "-i " + RegisterContent.name(first));
      case OUT -> generic(one, Generic.OUT, not, "-o " + RegisterContent.name(first));
      case PROTOCOL -> {
        protocol = not ? "" : protocol(first[0] & 0xff);
        generic(one, Generic.PROTOCOL, not, "-p " + protocol(first[0] & 0xff));
      }
      case FRAGMENT ->
          generic(one && RegisterContent.port(first) == 0, Generic.FRAGMENT, !not, "-f");
      case MARK -> {
        long mask = field.mask().map(RegisterContent::number).orElse(0xffff_ffffL);
        match("mark", XtInfo.option(not, "--mark " + mark(RegisterContent.number(first), mask)));
        complete &= one;
      }
      case TCP_FLAGS -> {
        int mask = field.mask().map(bits -> bits[0] & 0xff).orElse(0xff);
        match("tcp", XtInfo.option(not, tcpFlags(mask, first[0])));
        complete &= one;
      }
      default -> complete = false;
    }
  }

  /** iptables masks only these, and flips no bits. */
  private static boolean isMaskedAsUsual(RegisterContent field) {
    boolean flips =
        field.xor().isPresent() && !Arrays.equals(field.xor().get(), new byte[field.length()]);
    return !flips
        && switch (field.what()) {
          case SOURCE, DESTINATION, MARK, TCP_FLAGS -> true;
          case FRAGMENT ->
              field.mask().map(RegisterContent::port).orElse(0) == RegisterContent.IP_OFFSET;
          default -> field.mask().isEmpty();
        };
  }

  private void generic(boolean possible, Generic place, boolean not, String text) {
    generic[place.ordinal()] += XtInfo.option(not, text);
    complete &= possible;
  }

  private void port(String option, byte[] first, byte[] last, boolean not) {
    int from = RegisterContent.port(first);
    int to = RegisterContent.port(last);
    match(protocol, XtInfo.option(not, option + XtInfo.range(from, to, ":")));
    complete &= !protocol.isEmpty() && from >= 0 && to >= 0;
  }

  /** The names of /etc/protocols that are common on nodes. */
  private static String protocol(int number) {
    return switch (number) {
      case 4 -> "ipencap";
      case 33 -> "dccp";
      case 47 -> "gre";
      case 50 -> "esp";
      case 51 -> "ah";
      case 58 -> "ipv6-icmp";
      case 136 -> "udplite";
      default -> Protocols.name(number);
    };
  }

  /** nft loads only the bytes that a prefix of whole bytes asks about. */
  private String block(RegisterContent field, byte[] bytes) {
    byte[] mask = field.mask().orElseGet(() -> ones(bytes.length));
    return Ip.ofBytes(Arrays.copyOf(bytes, family.bytes()))
        + mask(Ip.ofBytes(Arrays.copyOf(mask, family.bytes())), true);
  }

  private static byte[] ones(int count) {
    byte[] bytes = new byte[count];
    Arrays.fill(bytes, (byte) 0xff);
    return bytes;
  }

  /**
   * {@code /16}, or the mask itself if it has holes.
   *
   * @param always whether to print that of a single address, too
   */
  static String mask(Ip mask, boolean always) {
    int prefix = RegisterContent.leadingOnes(mask.bytes());
    return prefix < 0 ? "/" + mask : prefix == mask.family().bits() && !always ? "" : "/" + prefix;
  }

  static String mark(long value, long mask) {
    return "0x"
        + Long.toHexString(value)
        + (mask == 0xffff_ffffL ? "" : "/0x" + Long.toHexString(mask));
  }

  static String tcpFlags(int mask, int set) {
    String[] names = {"FIN", "SYN", "RST", "PSH", "ACK", "URG"};
    return "--tcp-flags " + XtInfo.names(mask, names) + " " + XtInfo.names(set, names);
  }
}
