package ipmasq.cli;

import ipmasq.app.ConflictWatch;
import ipmasq.app.NodeAddresses;
import ipmasq.evidence.neighbours.Explanation;
import ipmasq.evidence.neighbours.Explanation.Outcome;
import ipmasq.evidence.neighbours.Neighbours;
import ipmasq.evidence.neighbours.NodeLinks;
import ipmasq.evidence.neighbours.Question;
import ipmasq.http.Fetch;
import ipmasq.json.JsonValue;
import ipmasq.json.MalformedJson;
import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.Ip;
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
  private static final int WIDTH = 100;
  private static final String INDENT = "            ";

  private Explain() {}

  static int run(CommandContext context, List<String> words) throws WrongUsage {
    CommandContext settings = context;
    List<Ip> addresses = new ArrayList<>();
    for (String word : words) {
      Ip.parse(word).ifPresent(addresses::add);
    }
    Optional<String> wrong = wrong(settings, words, addresses);
    if (wrong.isPresent()) {
      throw new WrongUsage(wrong.get());
    }
    Map<Family, PolicyLookup> policies = new EnumMap<>(Family.class);
    for (Ip address : addresses) {
      if (!policies.containsKey(address.family())) {
        Optional<PolicyLookup> found = PolicyLookup.of(context, address.family());
        if (found.isEmpty()) {
          return Main.FAILED;
        }
        policies.put(address.family(), found.get());
      }
    }
    boolean flow = isFlow(context, addresses);
    List<Question> questions = new ArrayList<>();
    for (Ip ip : flow ? addresses.subList(1, 2) : addresses) {
      Optional<Ip> from = flow ? Optional.of(addresses.getFirst()) : settings.from();
      questions.add(
          new Question(
              ip, from, settings.protocol(), settings.port(), settings.line().text(Flag.VIA)));
    }
    List<Explanation> answers = answers(settings, questions, policies);
    print(context, settings.configGiven() ? answers : withFlows(context, answers));
    return Main.OK;
  }

  /** What is wrong with the question, and what would be right. */
  private static Optional<String> wrong(
      CommandContext settings, List<String> words, List<Ip> addresses) {
    if (words.isEmpty()) {
      return Optional.of("explain needs an address: ip-masq-agent explain 8.8.8.8");
    }
    for (String word : words) {
      if (Ip.parse(word).isEmpty()) {
        String example =
            Cidr.parse(word) instanceof Cidr.Parsed.Block(var block)
                ? " is a range; ask for an address in it: ip-masq-agent explain " + block.first()
                : " is not an IP address";
        return Optional.of("\"" + word + "\"" + example);
      }
    }
    Optional<Ip> from = settings.from();
    for (Ip to : addresses) {
      if (from.isPresent() && from.get().family() != to.family()) {
        return Optional.of(
            "no packet goes from %s (%s) to %s (%s): give --from an address of the same family"
                .formatted(from.get(), from.get().family(), to, to.family()));
      }
    }
    List<String> names = new ArrayList<>(NodeAddresses.links().names());
    names.add("lo");
    String some =
        String.join(", ", names.subList(0, Math.min(8, names.size())))
            + (names.size() > 8 ? " and more" : "");
    return settings
        .line()
        .text(Flag.VIA)
        .filter(via -> !settings.configGiven() && !names.contains(via))
        .map(via -> "this node has no interface \"" + via + "\"; it has " + some);
  }

  /** The running agent samples flows; without one that listens nothing is known of them. */
  private static List<Explanation> withFlows(CommandContext context, List<Explanation> answers) {
    return context
        .agent()
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

  /** Two addresses are the two ends of a flow, unless a flag names the source. */
  private static boolean isFlow(CommandContext context, List<Ip> addresses) {
    return addresses.size() == 2
        && context.from().isEmpty()
        && !context.configGiven()
        && addresses.getFirst().family() == addresses.getLast().family();
  }

  /** By all rules in the kernel, or by the config alone if a file was given. */
  private static List<Explanation> answers(
      CommandContext settings, List<Question> questions, Map<Family, PolicyLookup> policies) {
    NodeLinks links = NodeAddresses.links();
    List<Explanation> answers = new ArrayList<>();
    try (Neighbours neighbours = new Neighbours()) {
      for (Question question : questions) {
        PolicyLookup found =
            Objects.requireNonNull(policies.get(question.family())); // located before the query
        boolean byConfig =
            settings.configGiven() || !ConflictWatch.has(found.config().backend()) || found.isCni();
        Neighbours.Ours ours =
            new Neighbours.Ours(found.backend(), found.config().masqChain(), found.inForce());
        answers.add(
            byConfig
                ? Neighbours.byConfig(question, found.wanted())
                : neighbours.explain(question, found.wanted(), ours, links));
      }
    }
    return answers;
  }

  private static void print(CommandContext context, List<Explanation> answers) {
    if (context.json()) {
      context.printJson(answers.stream().map(Explanation::fields).toList());
    } else if (answers.size() == 1) {
      context.out().print(text(answers.getFirst()));
    } else {
      context.out().print(table(answers));
    }
  }

  /** One flow, top down. */
  private static String text(Explanation answer) {
    StringBuilder text = new StringBuilder();
    text.append("A packet ").append(ends(answer)).append(' ').append(answer.sentence());
    text.append(".\n\n");
    line(text, "Config:", desired(answer));
    line(text, answer.outcome().isPresent() ? "Rules:" : "Why:", answer.why());
    answer
        .outcome()
        .flatMap(Outcome::by)
        .ifPresent(by -> line(text, "Decided by:", by.owner().title() + ": " + by.rule()));
    answer.flows().ifPresent(flows -> line(text, "Live flows:", flows));
    answer.advice().ifPresent(advice -> line(text, "To do:", advice));
    return text.toString();
  }

  private static String ends(Explanation answer) {
    return answer.from().map(from -> "from " + from + " ").orElse("") + "to " + answer.to();
  }

  private static String desired(Explanation answer) {
    String asked =
        switch (answer.desired().kind()) {
          case KEPT -> "keeps its source";
          case TRANSLATED -> "is masqueraded";
          case ANYTHING -> "says nothing about it";
        };
    return asked + " (" + answer.desired().why() + ")";
  }

  /** A label and text that wraps at {@link #WIDTH} columns. */
  private static void line(StringBuilder text, String label, String said) {
    StringBuilder line = new StringBuilder(label);
    line.append(" ".repeat(INDENT.length() - label.length()));
    boolean fresh = true;
    for (String word : said.split(" ")) {
      if (!fresh && line.length() + 1 + word.length() > WIDTH) {
        text.append(line.toString().stripTrailing()).append('\n');
        line.setLength(0);
        line.append(INDENT);
        fresh = true;
      }
      line.append(fresh ? "" : " ").append(word);
      fresh = false;
    }
    text.append(line.toString().stripTrailing()).append('\n');
  }

  /** Several, one line each. */
  private static String table(List<Explanation> answers) {
    boolean byConfig = answers.stream().allMatch(answer -> answer.outcome().isEmpty());
    TextTable table =
        byConfig
            ? new TextTable("PACKET", "CONFIG", "WHY")
            : new TextTable("PACKET", "CONFIG", "OUTCOME", "DECIDED BY");
    for (Explanation answer : answers) {
      String packet = answer.from().map(from -> from + " to ").orElse("") + answer.to();
      String config = answer.desired().kind().verb();
      if (byConfig) {
        table.row(packet, config, answer.why());
      } else {
        table.row(
            packet,
            config,
            answer.outcome().map(Outcome::phrase).orElse("-"),
            answer.outcome().map(Explain::decider).orElse("-"));
      }
    }
    return table.text("");
  }

  private static String decider(Outcome outcome) {
    return outcome.word().equals("unknown")
        ? "ask for it alone to see why"
        : outcome.by().map(by -> by.owner().title()).orElse("-");
  }
}
