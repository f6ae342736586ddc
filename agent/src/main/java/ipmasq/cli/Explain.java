package ipmasq.cli;

import ipmasq.app.NatHooks;
import ipmasq.app.NodeAddresses;
import ipmasq.app.Settings;
import ipmasq.hook.Hook;
import ipmasq.hook.NodeLinks;
import ipmasq.http.Fetch;
import ipmasq.json.JsonValue;
import ipmasq.json.MalformedJson;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.status.ExplainRequest;
import ipmasq.status.Explainer;
import ipmasq.status.Explanation;
import ipmasq.status.TextTable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** {@code explain ADDRESS…}: says what happens to packets to these addresses, and why. */
final class Explain {
  private Explain() {}

  static int run(CommandContext context, List<String> words) {
    if (words.isEmpty()) {
      return Main.usage(
          "explain needs an address: ip-masq-agent explain 8.8.8.8",
          Command.EXPLAIN,
          context.err());
    }
    List<Ip> addresses = new ArrayList<>();
    for (String word : words) {
      Optional<Ip> ip = Ip.parse(word);
      if (ip.isEmpty()) {
        return Main.usage("\"" + word + "\" is not an IP address", Command.EXPLAIN, context.err());
      }
      addresses.add(ip.get());
    }
    Map<Family, PolicyLookup.PolicyFound> policies = new EnumMap<>(Family.class);
    for (Ip address : addresses) {
      if (!policies.containsKey(address.family())) {
        switch (PolicyLookup.of(context, address.family())) {
          case PolicyLookup.PolicyFound found -> policies.put(address.family(), found);
          case PolicyLookup.NothingRead(var code) -> {
            return code;
          }
        }
      }
    }
    Settings settings = context.settings();
    List<ExplainRequest> questions = new ArrayList<>();
    for (Ip ip : addresses) {
      questions.add(question(settings, ip, settings.from()));
    }
    if (isFlow(context, addresses)) {
      questions.add(question(settings, addresses.getLast(), Optional.of(addresses.getFirst())));
    }
    List<Explanation> answers = answers(settings, questions, policies);
    print(context, settings.configGiven() ? answers : withFlows(answers));
    return Main.OK;
  }

  /** The running agent samples flows; without one that listens nothing is known of them. */
  private static List<Explanation> withFlows(List<Explanation> answers) {
    return RunningAgent.find()
        .flatMap(RunningAgent::asked)
        .map(agent -> answers.stream().map(answer -> withFlows(answer, agent)).toList())
        .orElse(answers);
  }

  private static Explanation withFlows(Explanation answer, InetSocketAddress agent) {
    String from = answer.from().map(ip -> "&from=" + ip).orElse("");
    try {
      Fetch.Fetched fetched = Fetch.get(agent, "/api/explain?to=" + answer.to() + from);
      return JsonValue.read(fetched.body().getBytes(StandardCharsets.UTF_8))
                  instanceof JsonValue.Obj object
              && object.value("flows").orElse(null) instanceof JsonValue.Str(_, _, var flows)
          ? answer.with(flows)
          : answer;
    } catch (IOException | MalformedJson silent) {
      return answer;
    }
  }

  private static ExplainRequest question(Settings settings, Ip to, Optional<Ip> from) {
    return new ExplainRequest(to, from, settings.protocol(), settings.port(), settings.via());
  }

  /** Two addresses are the two ends of a flow, unless a flag names the source. */
  private static boolean isFlow(CommandContext context, List<Ip> addresses) {
    return addresses.size() == 2
        && context.settings().from().isEmpty()
        && !context.settings().configGiven()
        && addresses.getFirst().family() == addresses.getLast().family();
  }

  /** By all rules in the kernel, or by the config alone if a file was given. */
  private static List<Explanation> answers(
      Settings settings,
      List<ExplainRequest> questions,
      Map<Family, PolicyLookup.PolicyFound> policies) {
    NatHooks look = new NatHooks();
    NodeLinks links = NodeAddresses.links();
    Map<Family, Hook> hooks = new EnumMap<>(Family.class);
    List<Explanation> answers = new ArrayList<>();
    for (ExplainRequest question : questions) {
      Family family = question.to().family();
      PolicyLookup.PolicyFound found =
          Objects.requireNonNull(policies.get(family)); // located before the query
      if (settings.configGiven() || !NatHooks.has(found.config().backend()) || found.isCni()) {
        answers.add(Explainer.byPolicy(question, found.wanted()));
      } else {
        Hook hook =
            hooks.computeIfAbsent(
                family,
                _ -> look.at(family, found.backend(), found.config().masqChain(), found.inForce()));
        Hook before = look.services(question.to(), question.ofNode());
        answers.add(Explainer.byRules(question, found.wanted(), hook, Optional.of(before), links));
      }
    }
    return answers;
  }

  private static void print(CommandContext context, List<Explanation> answers) {
    if (context.json()) {
      context.printJson(answers.stream().map(Explanation::fields).toList());
      return;
    }
    boolean ends = answers.stream().anyMatch(answer -> answer.from().isPresent());
    boolean asked = answers.stream().anyMatch(answer -> answer.actual().isPresent());
    String first = ends ? "PACKET" : "DESTINATION";
    TextTable table =
        asked
            ? new TextTable(first, "VERDICT", "WHY", "DECIDED BY")
            : new TextTable(first, "WANTED", "WHY");
    for (Explanation answer : answers) {
      String packet =
          answer.from().map(from -> from + " to " + answer.to()).orElse(answer.to().toString());
      if (asked) {
        String by = answer.decidedBy().map(d -> d.owner() + ": " + d.rule()).orElse("-");
        String flows = answer.flows().map(told -> "; live flows: " + told).orElse("");
        table.row(packet, answer.phrase(), answer.why() + flows, by);
      } else {
        table.row(packet, answer.phrase(), answer.why());
      }
    }
    context.out().print(table.text(""));
  }
}
