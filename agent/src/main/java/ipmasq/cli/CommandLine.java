package ipmasq.cli;

import ipmasq.config.Key;
import ipmasq.config.Nearest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A parsed command line: flags with their values, and the other words in order.
 *
 * <p>Flags use the syntax of Go programs, because existing manifests do: {@code -x}, {@code --x},
 * {@code --x=v}, {@code --x v}; a switch also bare. They may appear anywhere.
 */
record CommandLine(Map<Flag, List<String>> flags, List<String> words) {
  private static final String STRICT = "strict";

  /** Flags about which file is read, and how. */
  private static final Set<String> READING = Set.of(Flag.CONFIG, STRICT);

  /** The result of parsing. */
  sealed interface ParsedLine {
    record GoodLine(CommandLine line) implements ParsedLine {}

    record WrongLine(String message) implements ParsedLine {}
  }

  static ParsedLine parse(List<String> args) {
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
      Flag flag = Flag.named(name);
      if (flag == null) {
        return new ParsedLine.WrongLine("unknown flag " + arg + suggestion(name));
      }
      String value;
      if (equals >= 0) {
        value = arg.substring(equals + 1);
      } else if (flag.standsAlone()) {
        value = "true";
      } else if (++i < args.size()) {
        value = args.get(i);
      } else {
        return new ParsedLine.WrongLine(
            "--" + name + " needs a value: --" + name + "=" + flag.value());
      }
      Optional<String> complaint = complaint(flag, value);
      if (complaint.isPresent()) {
        return new ParsedLine.WrongLine(complaint.get());
      }
      flags.computeIfAbsent(flag, _ -> new ArrayList<>()).add(value);
    }
    return new ParsedLine.GoodLine(new CommandLine(flags, words));
  }

  private static Optional<String> complaint(Flag flag, String value) {
    return switch (flag.kind()) {
      case SWITCH, IGNORED_SWITCH ->
          isTrue(value) || isFalse(value)
              ? Optional.empty()
              : Optional.of("--%s is true or false, not \"%s\"".formatted(flag.name(), value));
      case NUMBER ->
          number(value).isPresent()
              ? Optional.empty()
              : Optional.of("--%s is a whole number, not \"%s\"".formatted(flag.name(), value));
      case TEXT, LIST, IGNORED -> Optional.empty();
    };
  }

  private static boolean isTrue(String value) {
    return switch (value) {
      case "1", "t", "T", "true", "TRUE", "True" -> true;
      default -> false;
    };
  }

  private static boolean isFalse(String value) {
    return switch (value) {
      case "0", "f", "F", "false", "FALSE", "False" -> true;
      default -> false;
    };
  }

  private static Optional<Integer> number(String value) {
    try {
      return Optional.of(Integer.decode(value));
    } catch (NumberFormatException notOne) {
      return Optional.empty();
    }
  }

  private static String suggestion(String name) {
    return Nearest.to(name, Flag.ALL.stream().map(Flag::name).toList())
        .map(near -> ": did you mean --" + near + "?")
        .orElse("");
  }

  /** Flags that decide which rules a node has, and where. */
  private static boolean decidesRules(Flag flag) {
    return switch (flag.subject()) {
      case DEFAULTS -> !flag.name().equals(Key.STRICT.name()); // that decides which file is good
      case PLACES -> true;
      case KLOG, COMMAND -> false;
    };
  }

  /** Whether it has flags of its own that decide the rules, besides the file and strictness. */
  boolean decidesRules() {
    return flags.keySet().stream()
        .anyMatch(flag -> decidesRules(flag) && !READING.contains(flag.name()));
  }

  /** The same with the running agent's flags that decide the rules; a file named here counts. */
  CommandLine as(RunningAgent agent) {
    Map<Flag, List<String>> all = new LinkedHashMap<>(flags);
    agent
        .line()
        .flags
        .forEach(
            (flag, values) -> {
              if (flag.name().equals(Flag.CONFIG)) {
                all.putIfAbsent(
                    flag,
                    values.stream()
                        .map(it -> agent.process().seenFromHere(it).toString())
                        .toList());
              } else if (decidesRules(flag)) {
                all.putIfAbsent(flag, values);
              }
            });
    return new CommandLine(all, words);
  }

  /** Why a command refuses it; empty if it does not. */
  Optional<String> refusal(Command command) {
    for (Flag flag : flags.keySet()) {
      if (command == Command.APPLY && flag.name().equals(Flag.DRY_RUN)) {
        return Optional.of("apply does not take --dry-run: plan shows what apply would change");
      }
      if (!command.takes(flag)) {
        List<String> takers =
            Arrays.stream(Command.values()).filter(c -> c.takes(flag)).map(Command::word).toList();
        String others =
            takers.size() == 1
                ? takers.getFirst() + " does"
                : "it is a flag of " + String.join(", ", takers);
        return Optional.of(command.word() + " does not take --" + flag.name() + ": " + others);
      }
    }
    return command.takesOperands() || words.size() < 2
        ? Optional.empty()
        : Optional.of(command.word() + " takes no argument, but was given " + words.get(1));
  }

  /** Those of these flags that only the cni backend uses. */
  List<String> cniFlags() {
    return flags.keySet().stream().filter(Flag::isCni).map(flag -> "--" + flag.name()).toList();
  }

  boolean has(String flag) {
    return values(flag).isPresent();
  }

  /** The value of a switch; {@code otherwise} if it is not given. */
  boolean isOn(String flag, boolean otherwise) {
    return text(flag).map(CommandLine::isTrue).orElse(otherwise);
  }

  /** The last value given. */
  Optional<String> text(String flag) {
    return values(flag).map(List::getLast);
  }

  int number(String flag, int otherwise) {
    return text(flag).flatMap(CommandLine::number).orElse(otherwise);
  }

  List<String> list(String flag) {
    return values(flag).orElse(List.of());
  }

  private Optional<List<String>> values(String name) {
    return Optional.ofNullable(Flag.named(name)).map(flags::get);
  }

  /** The names of given flags that have no effect here. */
  List<String> ignored() {
    return flags.keySet().stream()
        .filter(flag -> flag.subject() == Flag.Subject.KLOG)
        .map(Flag::name)
        .toList();
  }
}
