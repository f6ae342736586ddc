package ipmasq.evidence.neighbours;

import ipmasq.evidence.neighbours.Explanation.Wish.Kind;
import ipmasq.net.Cidr;
import ipmasq.net.Ip;
import ipmasq.policy.Packet;
import ipmasq.policy.Policy;
import ipmasq.policy.Translation;
import ipmasq.policy.Verdict;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the config asks for, for one packet.
 *
 * @param range the range of the config that holds its destination
 * @param how how it is to be translated, if it is
 * @param why for people
 */
record Desired(Kind kind, Optional<Cidr> range, Optional<Translation> how, String why) {
  Explanation.Wish wish(boolean pinned) {
    return new Explanation.Wish(kind, range, pinned, why);
  }

  /**
   * By the policy; what the question leaves open is taken to be within the policy's scope.
   *
   * @param policy empty: the agent has no rules there
   * @param interfaces those that it may leave by; none: unknown
   */
  static Desired of(Question question, Optional<Policy> policy, List<String> interfaces) {
    if (policy.isEmpty()) {
      return anything("this agent has no rules for " + question.family());
    }
    List<String> ways =
        interfaces.isEmpty() ? policy.get().interfaces().stream().limit(1).toList() : interfaces;
    if (ways.isEmpty()) {
      return of(question, policy.get(), null);
    }
    List<Desired> each =
        ways.stream().map(way -> of(question, policy.get(), way)).distinct().toList();
    return each.size() == 1
        ? each.getFirst()
        : anything("it depends on the interface that it leaves by: " + String.join(" or ", ways));
  }

  private static Desired of(Question question, Policy policy, @Nullable String way) {
    Optional<Ip> source =
        question.from().or(() -> policy.sources().stream().findFirst().map(Cidr::first));
    Packet packet =
        new Packet(source.orElse(null), question.to(), RouteLookup.isLocal(question.to()), way);
    return switch (policy.verdictFor(packet)) {
      case Verdict.LocalDestination() -> anything("it is an address of this node");
      case Verdict.OtherSource() -> anything("its source is in none of sourceCIDRs");
      case Verdict.OtherInterface() -> anything("it leaves by none of outputInterface's names");
      case Verdict.Exempt(var range) ->
          new Desired(
              Kind.KEPT, Optional.of(range), Optional.empty(), range + " is not masqueraded");
      case Verdict.Exception(var range, var how) ->
          new Desired(
              Kind.TRANSLATED,
              Optional.of(range),
              Optional.of(how),
              range + " is masqueraded, as an exception");
      case Verdict.Outbound(var how) ->
          new Desired(
              Kind.TRANSLATED, Optional.empty(), Optional.of(how), "no exempt range contains it");
    };
  }

  private static Desired anything(String why) {
    return new Desired(Kind.ANYTHING, Optional.empty(), Optional.empty(), why);
  }
}
