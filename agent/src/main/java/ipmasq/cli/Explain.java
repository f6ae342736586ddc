package ipmasq.cli;

import ipmasq.backend.Backend;
import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.config.Config;
import ipmasq.hook.Flow;
import ipmasq.hook.Hook;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.policy.Policy;
import ipmasq.status.Explanation;
import ipmasq.status.KernelView;
import ipmasq.status.Routes;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** {@code explain ADDRESS…}: what happens to packets to these addresses, and why. */
final class Explain {
  private Explain() {}

  static int run(Console console, List<String> words) {
    if (words.isEmpty()) {
      return Main.usage("explain needs an address: ip-masq-agent explain 8.8.8.8", console.err());
    }
    List<Ip> addresses = new ArrayList<>();
    for (String word : words) {
      Optional<Ip> ip = Ip.parse(word);
      if (ip.isEmpty()) {
        return Main.usage("\"" + word + "\" is not an IP address", console.err());
      }
      addresses.add(ip.get());
    }
    Map<Family, Optional<Policy>> policies = new EnumMap<>(Family.class);
    for (Ip address : addresses) {
      if (!policies.containsKey(address.family())) {
        switch (policy(console, address.family())) {
          case Found.Policies(var policy) -> policies.put(address.family(), policy);
          case Found.Nothing(var code) -> {
            return code;
          }
        }
      }
    }
    Optional<Ip> from = console.settings().from();
    Map<Family, Optional<Hook>> hooks = hooks(console, policies);
    List<Answer> answers = new ArrayList<>();
    for (Ip ip : addresses) {
      answers.add(answer(console.settings(), ip, from, policies, hooks));
    }
    if (isFlow(console, addresses)) {
      Optional<Ip> first = Optional.of(addresses.getFirst());
      answers.add(answer(console.settings(), addresses.getLast(), first, policies, hooks));
    }
    print(console, answers);
    return Main.OK;
  }

  /** Two addresses are also the two ends of a flow, where nothing else says where it begins. */
  private static boolean isFlow(Console console, List<Ip> addresses) {
    return addresses.size() == 2
        && console.settings().from().isEmpty()
        && !console.settings().configGiven()
        && addresses.getFirst().family() == addresses.getLast().family();
  }

  /** What else is at the hook; of no interest where only a file is asked. */
  private static Map<Family, Optional<Hook>> hooks(
      Console console, Map<Family, Optional<Policy>> policies) {
    Map<Family, Optional<Hook>> hooks = new EnumMap<>(Family.class);
    Config config = console.settings().config();
    Hooks look = new Hooks();
    boolean asked = !console.settings().configGiven() && Hooks.has(config.backend());
    policies.forEach(
        (family, policy) ->
            hooks.put(
                family,
                asked
                    ? Optional.of(look.at(family, config.masqChain(), policy))
                        .filter(hook -> policy.isEmpty() || hook.holdsOurs())
                    : Optional.empty()));
    return hooks;
  }

  /** Where the verdicts come from: the file that was named, else the kernel's rules. */
  private sealed interface Found {
    record Policies(Optional<Policy> policy) implements Found {}

    record Nothing(int code) implements Found {}
  }

  private static Found policy(Console console, Family family) {
    if (console.settings().configGiven()) {
      Optional<Config> config = console.config();
      return config
          .<Found>map(
              c ->
                  new Found.Policies(
                      c.enables(family) ? Optional.of(c.policy(family)) : Optional.empty()))
          .orElse(new Found.Nothing(Main.FAILED));
    }
    // The running agent may have been told another backend: whoever has rules of ours answers.
    Optional<Failure> unseen = Optional.empty();
    boolean looked = false;
    for (Backend backend : console.backends().all(console.settings().config())) {
      switch (backend.observe(family)) {
        case Observation.Unseen(Failure failure) -> unseen = Optional.of(failure);
        case Observation.Seen(var observed) -> {
          looked = true;
          for (String flaw : observed.flaws()) {
            console.err().println("ip-masq-agent: " + backend.name() + ": " + flaw);
          }
          if (observed.policy().isPresent()) {
            return new Found.Policies(observed.policy());
          }
        }
      }
    }
    return looked || unseen.isEmpty()
        ? new Found.Policies(Optional.empty())
        : new Found.Nothing(console.fail(unseen.get()));
  }

  /**
   * @param source where the packet comes from, where that was said
   * @param kernel what the whole hook does; nothing where it was not asked, or cannot be read
   */
  private record Answer(
      Optional<Ip> source, Ip destination, Explanation explanation, Optional<KernelView> kernel) {

    private Optional<String> objection() {
      return kernel.flatMap(view -> view.objection(explanation));
    }

    private String ends() {
      return source.map(s -> s + " to " + destination).orElse(destination.toString());
    }
  }

  private static Answer answer(
      Settings settings,
      Ip destination,
      Optional<Ip> from,
      Map<Family, Optional<Policy>> policies,
      Map<Family, Optional<Hook>> hooks) {
    Optional<Ip> source = from.filter(ip -> ip.family() == destination.family());
    Optional<Policy> policy = policies.get(destination.family());
    return new Answer(
        source,
        destination,
        Explanation.of(policy, destination, source, settings.via()),
        hooks
            .get(destination.family())
            .map(hook -> KernelView.of(hook.fate(flow(settings, destination, source, policy)))));
  }

  /** What is not told is taken for ours to translate, as in the explanation. */
  private static Flow flow(
      Settings settings, Ip destination, Optional<Ip> source, Optional<Policy> policy) {
    Flow flow = Routes.flow(destination, source, settings.protocol(), settings.port());
    if (source.isEmpty() && policy.isPresent() && !policy.get().sources().isEmpty()) {
      flow = flow.from(policy.get().sources().subList(0, 1));
    }
    Optional<String> via =
        settings
            .via()
            .or(
                () ->
                    policy
                        .flatMap(p -> p.interfaces().stream().findFirst())
                        .map(name -> name.replace("+", "0")));
    return via.isPresent() ? flow.via(List.of(via.get())) : flow;
  }

  private static void print(Console console, List<Answer> answers) {
    if (console.json()) {
      console.printJson(answers.stream().map(Explain::json).toList());
      return;
    }
    boolean ends = answers.stream().anyMatch(answer -> answer.source().isPresent());
    Table table = new Table(ends ? "PACKET" : "DESTINATION", "VERDICT", "BECAUSE");
    for (Answer answer : answers) {
      table.row(answer.ends(), answer.explanation().phrase(), answer.explanation().because());
    }
    table.print(console.out());
    for (Answer answer : answers) {
      answer
          .objection()
          .ifPresent(objection -> console.out().println("But " + answer.ends() + ": " + objection));
    }
  }

  private static Map<String, Object> json(Answer answer) {
    Map<String, Object> fields = new LinkedHashMap<>();
    Explanation explanation = answer.explanation();
    answer.source().ifPresent(source -> fields.put("source", source));
    fields.put("destination", answer.destination());
    fields.put("verdict", explanation.verdict());
    fields.put("translated", explanation.translated());
    fields.put("range", explanation.range().orElse(null));
    fields.put("pinned", explanation.pinned());
    fields.put("because", explanation.because());
    answer.kernel().ifPresent(kernel -> fields.put("kernel", kernel.fields()));
    return fields;
  }
}
