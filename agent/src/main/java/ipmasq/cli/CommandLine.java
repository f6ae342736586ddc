package ipmasq.cli;

import ipmasq.config.Key;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A parsed command line: flags with values of the right form, and the other words in order.
 *
 * <p>Flags use the syntax of Go programs, because existing manifests do: {@code -x}, {@code --x},
 * {@code --x=v}, {@code --x v}; a switch also bare. They may appear anywhere.
 */
record CommandLine(Map<Flag, List<String>> flags, List<String> words) {
  /** The result of parsing. */
  sealed interface Parsed<T> {
    record Good<T>(T value) implements Parsed<T> {}

    record Wrong<T>(String message) implements Parsed<T> {}
  }

  static Parsed<CommandLine> parse(List<String> args) {
    Map<Flag, List<String>> flags = new LinkedHashMap<>();
    List<String> words = new ArrayList<>();
    for (int i = 0; i < args.size(); i++) {
      String arg = args.get(i);
      if (arg.equals("--")) {
        words.addAll(args.subList(i + 1, args.size()));
        break;
      }
      if (!arg.startsWith("-") || arg.equals("-")) {
        words.add(arg);
        continue;
      }
      int equals = arg.indexOf('=');
      String name = arg.substring(arg.startsWith("--") ? 2 : 1, equals < 0 ? arg.length() : equals);
      Optional<Flag> known = Flag.named(name);
      if (known.isEmpty()) {
        List<String> names = Flag.ALL.stream().map(Flag::name).toList();
        return new Parsed.Wrong<>("unknown flag " + arg + Help.didYouMean(name, names, "--"));
      }
      Flag flag = known.get();
      String value;
      if (equals >= 0) {
        value = arg.substring(equals + 1);
      } else if (flag.isSwitch()) {
        value = "true";
      } else if (++i < args.size()) {
        value = args.get(i);
      } else {
        return new Parsed.Wrong<>(flag + " needs a value: " + flag + "=" + flag.value());
      }
      Optional<String> complaint = flag.complaint(value);
      if (complaint.isPresent()) {
        return new Parsed.Wrong<>(complaint.get());
      }
      flags.computeIfAbsent(flag, _ -> new ArrayList<>()).add(value);
    }
    return new Parsed.Good<>(new CommandLine(flags, words));
  }

  /** Flags that decide which rules a node has, and where; strict decides which file is good. */
  private static boolean decidesRules(Flag flag) {
    return Flag.RULES.contains(flag) && !Optional.of(flag).equals(Flag.of(Key.STRICT));
  }

  /** Whether it has flags of its own that decide the rules, besides the file and strictness. */
  boolean decidesRules() {
    return flags.keySet().stream()
        .anyMatch(flag -> decidesRules(flag) && !flag.equals(Flag.CONFIG));
  }

  /** The same with the running agent's flags that decide the rules; a file named here counts. */
  CommandLine as(RunningAgent agent) {
    Map<Flag, List<String>> all = new LinkedHashMap<>(flags);
    agent
        .line()
        .flags
        .forEach(
            (flag, values) -> {
              if (decidesRules(flag)) {
                all.putIfAbsent(
                    flag,
                    flag.equals(Flag.CONFIG)
                        ? values.stream().map(agent.process()::seenFromHere).toList()
                        : values);
              }
            });
    return new CommandLine(all, words);
  }

  /** Why a command refuses it; empty if it does not. */
  Optional<String> refusal(Command command) {
    for (Flag flag : flags.keySet()) {
      if (command == Command.APPLY && flag.equals(Flag.DRY_RUN)) {
        return Optional.of("apply does not take --dry-run: plan shows what apply would change");
      }
      if (!command.takes(flag)) {
        List<String> takers =
            Arrays.stream(Command.values()).filter(c -> c.takes(flag)).map(Command::word).toList();
        String others =
            takers.size() == 1
                ? takers.getFirst() + " does"
                : "it is a flag of " + String.join(", ", takers);
        return Optional.of(command.word() + " does not take " + flag + ": " + others);
      }
    }
    return !command.operands.isEmpty() || words.size() < 2
        ? Optional.empty()
        : Optional.of(command.word() + " takes no argument, but was given " + words.get(1));
  }

  boolean has(Flag flag) {
    return flags.containsKey(flag);
  }

  /** Whether a flag decides this key. */
  boolean has(Key<?> key) {
    return Flag.of(key).filter(this::has).isPresent();
  }

  /** Whether a switch is given and on. */
  boolean isOn(Flag flag) {
    return isOn(flag, false);
  }

  /** The value of a switch; {@code otherwise} if it is not given. */
  boolean isOn(Flag flag, boolean otherwise) {
    return text(flag).map(Flag::isTrue).orElse(otherwise);
  }

  /** The last value given. */
  Optional<String> text(Flag flag) {
    return Optional.ofNullable(flags.get(flag)).map(List::getLast);
  }

  Optional<Integer> number(Flag flag) {
    return text(flag).flatMap(Flag::number);
  }

  Duration duration(Flag flag, Duration otherwise) {
    return text(flag).flatMap(Flag::duration).orElse(otherwise);
  }

  List<String> list(Flag flag) {
    return flags.getOrDefault(flag, List.of());
  }

  boolean isJson(Flag flag) {
    return text(flag).equals(Optional.of("json"));
  }
}
