package ipmasq.cli;

import ipmasq.backend.Backend;
import ipmasq.backend.Failure;
import ipmasq.backend.Observation;
import ipmasq.config.Config;
import ipmasq.net.Family;
import ipmasq.net.Ip;
import ipmasq.policy.Packet;
import ipmasq.policy.Policy;
import ipmasq.policy.Translation;
import ipmasq.policy.Verdict;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
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
    List<Answer> answers =
        addresses.stream().map(ip -> answer(ip, policies.get(ip.family()))).toList();
    print(console, answers);
    return Main.OK;
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
                      family == Family.IPV4 || c.enableIpv6()
                          ? Optional.of(Policy.of(c, family))
                          : Optional.empty()))
          .orElse(new Found.Nothing(Main.FAILED));
    }
    Backend backend = console.backends().forConfig(console.settings().base().config()).backend();
    return switch (backend.observe(family)) {
      case Observation.Seen(var observed) -> new Found.Policies(observed.policy());
      case Observation.Unseen(Failure failure) -> new Found.Nothing(console.fail(failure));
    };
  }

  private record Answer(
      Ip destination, String verdict, boolean translated, String range, String why) {}

  private static Answer answer(Ip destination, Optional<Policy> policy) {
    if (policy.isEmpty()) {
      return new Answer(
          destination,
          "untouched",
          false,
          "",
          "no rules of this agent for " + destination.family() + " are there");
    }
    Packet packet = new Packet(null, destination, isLocal(destination), null);
    return answer(destination, policy.get().verdictFor(packet));
  }

  private static Answer answer(Ip destination, Verdict verdict) {
    return switch (verdict) {
      case Verdict.LocalDestination() ->
          new Answer(destination, "local", false, "", "it is an address of this node");
      case Verdict.OtherSource() ->
          new Answer(destination, "untouched", false, "", "its source is in none of sourceCIDRs");
      case Verdict.OtherInterface() ->
          new Answer(
              destination, "untouched", false, "", "it leaves by none of outputInterface's names");
      case Verdict.Exempt(var range) ->
          new Answer(destination, "exempt", false, range.toString(), range + " is not masqueraded");
      case Verdict.Exception(var range, var translation) ->
          new Answer(
              destination,
              action(translation),
              true,
              range.toString(),
              range + " is masqueraded, as an exception");
      case Verdict.Outbound(var translation) ->
          new Answer(
              destination,
              action(translation),
              true,
              "",
              "none of the ranges that are not masqueraded holds it");
    };
  }

  private static String action(Translation translation) {
    return translation.addresses().isPresent() ? "snat" : "masquerade";
  }

  private static boolean isLocal(Ip ip) {
    try {
      InetAddress address = InetAddress.getByAddress(ip.bytes());
      return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
    } catch (UnknownHostException | SocketException unknown) {
      return false;
    }
  }

  private static void print(Console console, List<Answer> answers) {
    if (console.json()) {
      console.printJson(answers.stream().map(Explain::json).toList());
      return;
    }
    Table table = new Table("DESTINATION", "VERDICT", "BECAUSE");
    for (Answer answer : answers) {
      table.row(answer.destination().toString(), words(answer), answer.why());
    }
    table.print(console.out());
  }

  private static String words(Answer answer) {
    return switch (answer.verdict()) {
      case "exempt" -> "keeps its source";
      case "masquerade" -> "masqueraded";
      case "snat" -> "gets outputAddress";
      default -> answer.verdict();
    };
  }

  private static Map<String, Object> json(Answer answer) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("destination", answer.destination());
    fields.put("verdict", answer.verdict());
    fields.put("translated", answer.translated());
    fields.put("range", answer.range().isEmpty() ? null : answer.range());
    fields.put("because", answer.why());
    return fields;
  }
}
