package ipmasq.cli;

import ipmasq.app.Backends;
import ipmasq.config.Config;
import ipmasq.config.Config.BackendChoice;
import ipmasq.config.ConfigPaths;
import ipmasq.config.ConfigPaths.IfMissing;
import ipmasq.config.FlagDefaults;
import ipmasq.config.Key;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A command line that its command takes.
 *
 * <p>Flags use the syntax of Go programs, because existing manifests do: {@code -x}, {@code --x},
 * {@code --x=v}, {@code --x v}; a switch also bare. They may appear anywhere.
 *
 * @param flags the values given, in order
 * @param defaults the config before the file applies
 */
record CommandLine(
    Command command, List<String> operands, Map<Flag, List<String>> flags, FlagDefaults defaults) {
  private static final String CONFIG = "/etc/config/ip-masq-agent";

  static CommandLine parse(List<String> args) throws WrongUsage {
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
      Flag flag =
          Flag.named(
              arg.substring(arg.startsWith("--") ? 2 : 1, equals < 0 ? arg.length() : equals));
      String value = equals < 0 ? "true" : arg.substring(equals + 1);
      if (equals < 0 && !flag.isSwitch()) {
        if (++i == args.size()) {
          throw new WrongUsage(flag + " needs a value: " + flag + "=" + flag.value());
        }
        value = args.get(i);
      }
      flag.check(value);
      flags.computeIfAbsent(flag, _ -> new ArrayList<>()).add(value);
    }
    Command command = words.isEmpty() ? Command.RUN : Command.named(words.getFirst());
    CommandLine line = of(command, words.stream().skip(1).toList(), flags);
    if (line.isOn(Flag.HELP)) {
      return of(Command.HELP, words.stream().limit(1).toList(), Map.of());
    }
    line.refuse();
    return line.isOn(Flag.VERSION) ? of(Command.VERSION, List.of(), Map.of()) : line;
  }

  private static CommandLine of(
      Command command, List<String> operands, Map<Flag, List<String>> flags) throws WrongUsage {
    FlagDefaults defaults = FlagDefaults.none();
    CommandLine line = new CommandLine(command, operands, flags, defaults);
    if (line.isOn(Flag.ALL_RESERVED)) {
      defaults = defaults.with(Key.NON_MASQUERADE_CIDRS, Config.RESERVED, false);
    }
    for (Key<?> key : Key.ALL) {
      Optional<String> text = Flag.of(key).flatMap(line::text);
      if (text.isPresent()) {
        defaults =
            switch (key.given(text.get(), defaults)) {
              case Key.GivenFlag.As(var more) -> more;
              case Key.GivenFlag.WrongValue(var why) -> throw new WrongUsage(why);
            };
      }
    }
    return new CommandLine(command, operands, flags, defaults);
  }

  /** Throws if its command does not take what it says. */
  private void refuse() throws WrongUsage {
    for (Flag flag : flags.keySet()) {
      if (command == Command.APPLY && flag.equals(Flag.DRY_RUN)) {
        throw new WrongUsage("apply does not take --dry-run: plan shows what apply would change");
      }
      if (!command.takes(flag)) {
        throw new WrongUsage(command.word() + " does not take " + flag);
      }
    }
    if (command.operands.isEmpty() && !operands.isEmpty()) {
      throw new WrongUsage(
          command.word() + " takes no argument, but was given " + operands.getFirst());
    }
    BackendChoice backend = defaults.config().backend();
    for (Flag flag : List.of(Flag.CNI_CONFIG, Flag.CNI_KEEP_EXTRA)) {
      if (has(flag) && has(Key.BACKEND) && backend != BackendChoice.CNI) {
        throw new WrongUsage(
            flag + " without effect: the backend is " + Key.BACKEND.json(backend) + ", not cni");
      }
    }
  }

  /** A flag that decides which rules a node has, and where; strict decides which file is good. */
  private static boolean decidesRules(Flag flag) {
    return Flag.RULES.contains(flag) && !flag.name().equals("strict");
  }

  /**
   * The same with the running agent's flags that decide the rules, unless it has its own; a file
   * named here counts.
   */
  CommandLine beside(RunningAgent agent) throws WrongUsage {
    Map<Flag, List<String>> all = new LinkedHashMap<>(flags);
    for (Flag flag : agent.line().flags.keySet()) {
      if (decidesRules(flag)) {
        List<String> values = agent.line().list(flag);
        all.putIfAbsent(
            flag,
            flag.equals(Flag.CONFIG)
                ? values.stream().map(agent.process()::seenFromHere).toList()
                : values);
      }
    }
    return flags.keySet().stream().anyMatch(it -> decidesRules(it) && !it.equals(Flag.CONFIG))
        ? this
        : of(command, operands, all);
  }

  /**
   * The files to read.
   *
   * @param ifMissing what it means if one that it names is missing
   */
  ConfigPaths paths(IfMissing ifMissing) {
    List<String> given = has(Flag.CONFIG) ? list(Flag.CONFIG) : List.of(CONFIG);
    return new ConfigPaths(
        given.stream().map(Path::of).toList(), has(Flag.CONFIG) ? ifMissing : IfMissing.DEFAULTS);
  }

  Backends.CniFiles cni() {
    return new Backends.CniFiles(
        text(Flag.CNI_CONFIG).map(Path::of).orElse(Backends.CniFiles.USUAL),
        isOn(Flag.CNI_KEEP_EXTRA));
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
    return text(flag).map(Flag::isTrue).orElse(false);
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
