package ipmasq.status;

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
record Wanted(WantedKind kind, Optional<Cidr> range, Optional<Translation> how, String why) {
  /** In one word, which scripts may test for. */
  enum WantedKind {
    KEPT("kept"),
    TRANSLATED("translated"),
    /** The config does not cover such packets. */
    ANYTHING("anything");

    private final String word;

    WantedKind(String word) {
      this.word = word;
    }

    @Override
    public String toString() {
      return word;
    }
  }

  boolean is(WantedKind other) {
    return kind == other;
  }

  /**
   * By the policy; what the question leaves open is taken to be within the policy's scope.
   *
   * @param policy empty: the agent has no rules there
   * @param interfaces those that it may leave by; none: unknown
   */
  static Wanted of(ExplainRequest question, Optional<Policy> policy, List<String> interfaces) {
    if (policy.isEmpty()) {
      return anything("no rules of this agent for " + question.to().family() + " are there");
    }
    List<String> ways =
        interfaces.isEmpty() ? policy.get().interfaces().stream().limit(1).toList() : interfaces;
    if (ways.isEmpty()) {
      return of(question, policy.get(), null);
    }
    List<Wanted> each =
        ways.stream().map(way -> of(question, policy.get(), way)).distinct().toList();
    return each.size() == 1
        ? each.getFirst()
        : anything("outputInterface names only some of " + String.join(", ", ways));
  }

  private static Wanted of(ExplainRequest question, Policy policy, @Nullable String way) {
    Optional<Ip> source =
        question.from().or(() -> policy.sources().stream().findFirst().map(Cidr::first));
    Packet packet =
        new Packet(source.orElse(null), question.to(), RouteLookup.isLocal(question.to()), way);
    return switch (policy.verdictFor(packet)) {
      case Verdict.LocalDestination() -> anything("it is an address of this node");
      case Verdict.OtherSource() -> anything("its source is in none of sourceCIDRs");
      case Verdict.OtherInterface() -> anything("it leaves by none of outputInterface's names");
      case Verdict.Exempt(var range) ->
          new Wanted(
              WantedKind.KEPT, Optional.of(range), Optional.empty(), range + " is not masqueraded");
      case Verdict.Exception(var range, var how) ->
          new Wanted(
              WantedKind.TRANSLATED,
              Optional.of(range),
              Optional.of(how),
              range + " is masqueraded, as an exception");
      case Verdict.Outbound(var how) ->
          new Wanted(
              WantedKind.TRANSLATED,
              Optional.empty(),
              Optional.of(how),
              "no exempt range contains it");
    };
  }

  private static Wanted anything(String why) {
    return new Wanted(WantedKind.ANYTHING, Optional.empty(), Optional.empty(), why);
  }
}
