package ipmasq.status;

import ipmasq.hook.Action;
import ipmasq.hook.Actual;
import ipmasq.hook.Decision;
import ipmasq.hook.Decision.DecisionKind;
import ipmasq.hook.Flow;
import ipmasq.hook.Hook;
import ipmasq.hook.NodeLinks;
import ipmasq.net.Ip;
import ipmasq.net.IpRange;
import ipmasq.policy.Policy;
import ipmasq.policy.Translation;
import ipmasq.status.Explanation.DecidedBy;
import ipmasq.status.Wanted.WantedKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Explains one packet: asks the config and the walk of all rules, and puts it into words. */
public final class Explainer {
  private static final int RULES_NAMED = 3;
  private static final String PINNED = ", and pinned: no later chain masquerades it";

  private final ExplainRequest question;
  private final Optional<Policy> policy;
  private final List<String> interfaces;
  private final Wanted wanted;
  private final Hook hook;
  private boolean ofPod; // whether it is said of a pod's packets only

  private Explainer(ExplainRequest question, Optional<Policy> policy, Hook hook) {
    this.question = question;
    this.policy = policy;
    this.hook = hook;
    this.interfaces = question.interfaces();
    this.wanted = Wanted.of(question, policy, interfaces);
  }

  /**
   * By the config alone.
   *
   * @param policy empty: the agent has no rules there
   */
  public static Explanation byPolicy(ExplainRequest question, Optional<Policy> policy) {
    Wanted wanted = Wanted.of(question, policy, question.via().stream().toList());
    boolean pinned = wanted.is(WantedKind.KEPT) && policy.filter(Policy::pinned).isPresent();
    return new Explanation(
        question.to(),
        question.from(),
        wanted.kind().toString(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        wanted.range(),
        pinned,
        wanted.why() + (pinned ? PINNED : "") + assumed(question, policy, wanted),
        Optional.empty());
  }

  /** The assumptions made for what was not given. */
  private static String assumed(ExplainRequest question, Optional<Policy> policy, Wanted wanted) {
    if (policy.isEmpty() || wanted.is(WantedKind.ANYTHING)) {
      return "";
    }
    List<String> assumed = new ArrayList<>();
    if (question.from().isEmpty() && !policy.get().sources().isEmpty()) {
      assumed.add("from " + policy.get().sources().getFirst());
    }
    if (question.via().isEmpty() && !policy.get().interfaces().isEmpty()) {
      assumed.add("out of " + policy.get().interfaces().getFirst());
    }
    return assumed.isEmpty() ? "" : "; for packets " + String.join(", ", assumed);
  }

  /**
   * By all rules at the hook.
   *
   * @param policy what the config asks for
   * @param services the nat hook where services get their destination
   * @param links tells which rules are not about pods: a packet without a source is taken for a
   *     pod's
   */
  public static Explanation byRules(
      ExplainRequest question,
      Optional<Policy> policy,
      Hook hook,
      Optional<Hook> services,
      NodeLinks links) {
    return new Explainer(question, policy, hook).explain(services, links);
  }

  private Explanation explain(Optional<Hook> services, NodeLinks links) {
    Flow flow = question.flow(policy, interfaces);
    Optional<Decision> redirected =
        services.flatMap(
            before -> before.decisions(flow).stream().filter(Explainer::redirects).findFirst());
    if (flow.local()) {
      return local(redirected);
    }
    if (redirected.isPresent()) {
      return service(redirected.get());
    }
    List<Decision> decisions = hook.decisions(flow);
    if (question.from().isEmpty()) {
      List<Decision> onPods = decisions.stream().filter(links::mayConcernPods).toList();
      ofPod = onPods.size() < decisions.size();
      decisions = onPods;
    }
    return actual(Hook.actual(decisions), decisions);
  }

  private static boolean redirects(Decision decision) {
    return decision.kind() == DecisionKind.REDIRECTED || decision.kind() == DecisionKind.UNCLEAR;
  }

  private Explanation answer(String actual, String why) {
    return answer(actual, Optional.empty(), Optional.empty(), false, why);
  }

  private Explanation answer(
      String actual,
      Optional<String> translatedTo,
      Optional<DecidedBy> decidedBy,
      boolean pinned,
      String why) {
    return new Explanation(
        question.to(),
        question.from(),
        wanted.kind().toString(),
        Optional.of(actual),
        translatedTo,
        decidedBy,
        wanted.range(),
        pinned,
        why + given(),
        Optional.empty());
  }

  private Explanation local(Optional<Decision> redirected) {
    if (redirected.filter(Decision::certain).isPresent()) {
      return service(redirected.get());
    }
    String unless = redirected.isPresent() ? "; unless a service of the node takes its port" : "";
    return answer("kept", wanted.why() + unless);
  }

  private Explanation service(Decision by) {
    return answer(
        "unknown",
        "its destination "
            + (by.certain() ? "is" : "may be")
            + " changed before, by a rule of "
            + by.owner().title()
            + " ("
            + by.place()
            + "): what happens then depends on the new destination, so ask for that");
  }

  private Explanation actual(Actual actual, List<Decision> decisions) {
    return switch (actual) {
      case Actual.Translated(var by) -> by.size() == 1 ? translated(by.getFirst()) : translated(by);
      case Actual.Kept(var by) -> by.isPresent() ? bound(by.get()) : kept(decisions);
      case Actual.Dropped(var by) ->
          answer(
              "dropped",
              Optional.empty(),
              Optional.of(by(by)),
              false,
              "a rule of " + by.owner().title() + " drops it");
      case Actual.UnknownActual(var perhaps) ->
          answer("unknown", "it depends on " + rules(perhaps));
    };
  }

  private Explanation translated(Decision by) {
    boolean ours = by.kind() == DecisionKind.OURS;
    String why =
        ours
            ? wanted.why()
            : "a rule of "
                + by.owner().title()
                + " translates it"
                + (wanted.is(WantedKind.KEPT) ? " although " + wanted.why() : "");
    Optional<String> to = to(by);
    if (to.isPresent() && to.equals(question.from().map(Ip::toString))) {
      return answer("kept", why + "; the source that it gets is the one that it has");
    }
    if (to.isEmpty() && question.ofNode()) {
      return answer("unknown", why + "; the source that it gets may be the one that it has");
    }
    return answer("translated", to, Optional.of(by(by)), false, why);
  }

  private Explanation translated(List<Decision> by) {
    return answer(
        "translated",
        "several rules would translate it, and which of them does is not known: " + rules(by));
  }

  private Optional<String> to(Decision by) {
    Optional<IpRange> range =
        by.kind() == DecisionKind.OURS
            ? wanted.how().flatMap(Translation::addresses)
            : by.rule().action() instanceof Action.Translate(var _, var to) ? to : Optional.empty();
    boolean masquerade =
        by.kind() == DecisionKind.OURS
            || by.rule().action() instanceof Action.Translate(var how, var _)
                && how.equalsIgnoreCase("masquerade");
    if (range.isPresent()) {
      return range.map(Object::toString);
    }
    return masquerade && interfaces.size() == 1
        ? RouteLookup.onlyAddress(interfaces.getFirst(), question.to()).map(Ip::toString)
        : Optional.empty();
  }

  private Explanation bound(Decision by) {
    boolean ours = by.kind() == DecisionKind.PINNED;
    return answer(
        "kept",
        Optional.empty(),
        Optional.of(by(by)),
        ours,
        ours
            ? wanted.why() + PINNED
            : "a rule of " + by.owner().title() + " binds it to the source that it has");
  }

  private Explanation kept(List<Decision> decisions) {
    if (!wanted.is(WantedKind.TRANSLATED)) {
      Optional<DecidedBy> ours =
          wanted.range().map(range -> new DecidedBy(range + " is exempt", "ip-masq-agent"));
      return answer(
          "kept",
          Optional.empty(),
          hook.holdsOurs() ? ours : Optional.empty(),
          false,
          wanted.why());
    }
    Optional<Decision> shield =
        decisions.stream().filter(d -> d.kind() == DecisionKind.SHIELDED).findFirst();
    return answer(
        "kept",
        Optional.empty(),
        shield.map(this::by),
        false,
        shield.isPresent()
            ? "a rule of " + shield.get().owner().title() + " ends the chain before our rules"
            : "no rule at the nat postrouting hook translates it, although " + wanted.why());
  }

  private DecidedBy by(Decision decision) {
    String place =
        switch (decision.kind()) {
          case OURS ->
              decision.base().name()
                  + ": "
                  + wanted.how().map(Translation::toString).orElse("masquerade");
          case PINNED -> decision.base().name() + ": " + wanted.why();
          case TRANSLATED, KEPT, SHIELDED, DROPPED, REDIRECTED, UNCLEAR -> decision.place();
        };
    return new DecidedBy(place, decision.owner().title());
  }

  /** A few of them, each once, with the packets that they are about. */
  private String rules(List<Decision> decisions) {
    List<String> all =
        decisions.stream()
            .map(d -> "a rule of " + d.owner().title() + about(d) + ": " + by(d).rule())
            .distinct()
            .toList();
    String named = String.join("; ", all.subList(0, Math.min(RULES_NAMED, all.size())));
    return all.size() > RULES_NAMED
        ? named + "; and " + (all.size() - RULES_NAMED) + " more"
        : named;
  }

  private static String about(Decision decision) {
    return decision.provided().isEmpty() ? "" : " for " + decision.packets();
  }

  /** The assumptions behind the answer. */
  private String given() {
    StringBuilder text = new StringBuilder();
    if (question.via().isEmpty()
        && !interfaces.isEmpty()
        && policy.filter(p -> !p.interfaces().isEmpty()).isPresent()) {
      text.append("; it leaves by ").append(String.join(" or ", interfaces));
    }
    if (question.from().isEmpty() && policy.filter(p -> !p.sources().isEmpty()).isPresent()) {
      text.append("; for packets from sourceCIDRs");
    }
    if (ofPod) {
      text.append("; for a pod's packets");
    }
    if (hook.askedBits() != 0) {
      text.append("; if no rule marked it before");
    }
    if (interfaces.isEmpty() && !RouteLookup.isLocal(question.to())) {
      text.append(
          RouteLookup.isUnreachable(question.to())
              ? "; but the node has no route there now, so nothing leaves"
              : "; by which interface it leaves is not known");
    }
    return text.toString();
  }
}
