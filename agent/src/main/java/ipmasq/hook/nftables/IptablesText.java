package ipmasq.hook.nftables;

import ipmasq.hook.Action;
import ipmasq.hook.AddressRanges;
import ipmasq.hook.Condition;
import ipmasq.net.Cidr;
import ipmasq.net.IpRange;
import ipmasq.net.PortRange;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** Prints a rule of iptables-nft as {@code iptables -S} does, if possible. */
final class IptablesText {
  private IptablesText() {}

  /**
   * @param commentFirst whether the comment comes before the other matches
   * @param options the target's own
   */
  static String of(
      String chain,
      List<Condition> conditions,
      String comment,
      boolean commentFirst,
      Action action,
      String options) {
    StringBuilder text = new StringBuilder("-A ").append(chain);
    conditions.stream()
        .filter(condition -> rank(condition) < MATCHES)
        .sorted(Comparator.comparingInt(IptablesText::rank))
        .forEach(condition -> text.append(' ').append(words(condition)));
    String said = comment.isEmpty() ? "" : " -m comment --comment " + quoted(comment);
    text.append(commentFirst ? said : "");
    String protocol =
        conditions.stream()
            .filter(Condition.Protocol.class::isInstance)
            .map(condition -> " -m " + ((Condition.Protocol) condition).name())
            .findFirst()
            .orElse("");
    for (Condition condition : conditions) {
      if (rank(condition) == MATCHES) {
        boolean port = condition.toString().contains("Port[");
        text.append(port && !isMany(condition) ? protocol : "");
        text.append(' ').append(words(condition));
      }
    }
    text.append(commentFirst ? "" : said);
    return text.append(target(action)).append(options).toString();
  }

  private static final int MATCHES = 5;

  /** iptables prints the generic matches first, in this order. */
  private static int rank(Condition condition) {
    return switch (condition instanceof Condition.Not(var inner) ? inner : condition) {
      case Condition.Source(var ranges) -> isBlock(ranges) ? 0 : MATCHES;
      case Condition.Destination(var ranges) -> isBlock(ranges) ? 1 : MATCHES;
      case Condition.In _ -> 2;
      case Condition.Out _ -> 3;
      case Condition.Protocol _ -> 4;
      default -> MATCHES;
    };
  }

  private static boolean isBlock(AddressRanges ranges) {
    return ranges.list().size() == 1 && ranges.list().getFirst().block().isPresent();
  }

  private static boolean isMany(Condition condition) {
    return (condition instanceof Condition.Not(var inner) ? inner : condition)
            instanceof Condition.Port(var ranges)
        && ranges.size() > 1;
  }

  private static String quoted(String comment) {
    String escaped = comment.replace("\\", "\\\\").replace("\"", "\\\"");
    boolean plain = escaped.equals(comment) && comment.indexOf(' ') < 0;
    return plain ? comment : '"' + escaped + '"';
  }

  private static String words(Condition condition) {
    return condition instanceof Condition.Not(var inner)
        ? words(inner, "! ")
        : words(condition, "");
  }

  private static String words(Condition condition, String not) {
    return switch (condition) {
      case Condition.Source(var ranges) ->
          (isBlock(ranges) ? not + "-s " : "-m iprange " + not + "--src-range ")
              + addresses(ranges);
      case Condition.Destination(var ranges) ->
          (isBlock(ranges) ? not + "-d " : "-m iprange " + not + "--dst-range ")
              + addresses(ranges);
      case Condition.Out(var names) -> not + "-o " + String.join(",", names);
      case Condition.In(var names) -> not + "-i " + String.join(",", names);
      case Condition.Protocol(var name) -> not + "-p " + name;
      case Condition.Port(var ranges) ->
          (ranges.size() > 1 ? "-m multiport " + not + "--dports " : not + "--dport ")
              + ports(ranges);
      case Condition.SourcePort(var ports) -> not + "--sport " + ports;
      case Condition.Mark(var value, var mask) ->
          "-m mark "
              + not
              + "--mark 0x"
              + Long.toHexString(value)
              + (mask == 0xffff_ffffL ? "" : "/0x" + Long.toHexString(mask));
      case Condition.LocalDestination() -> "-m addrtype " + not + "--dst-type LOCAL";
      case Condition.LocalSource() -> "-m addrtype " + not + "--src-type LOCAL";
      case Condition.AnyOf(var _, var name) -> not + name;
      case Condition.Member(var _, var set) -> not + set.name();
      case Condition.UnknownCondition(var text) -> not + text;
      case Condition.Not _ -> not + condition;
    };
  }

  private static String addresses(AddressRanges ranges) {
    return ranges.list().stream().map(IptablesText::block).collect(Collectors.joining(","));
  }

  private static String block(IpRange range) {
    return range.block().map(Cidr::toString).orElse(range.toString());
  }

  private static String ports(List<PortRange> ranges) {
    return ranges.stream()
        .map(range -> range.toString().replace('-', ':'))
        .collect(Collectors.joining(","));
  }

  private static String target(Action action) {
    return switch (action) {
      case Action.Translate(var how, var to) ->
          " -j "
              + how.toUpperCase(java.util.Locale.ROOT)
              + to.map(r -> " --to-source " + r).orElse("");
      case Action.Keep() -> " -j SNAT";
      case Action.Untrack() -> " -j CT --notrack";
      case Action.Ours(), Action.Pin() -> "";
      case Action.Return() -> " -j RETURN";
      case Action.Accept() -> " -j ACCEPT";
      case Action.Drop() -> " -j DROP";
      case Action.Jump(var chain) -> " -j " + chain;
      case Action.Goto(var chain) -> " -g " + chain;
      case Action.Ask(var _, var map) -> " vmap " + map.name();
      case Action.ChangeDestination(var how) -> " -j " + how;
      case Action.SetMark _, Action.MarkAnd _ -> " -j MARK";
      case Action.NoAction() -> "";
      case Action.UnknownAction(var text) -> " " + text;
    };
  }
}
