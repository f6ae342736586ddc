package ipmasq.status;

/** Who keeps the rules in place, as far as is known. */
public sealed interface Keeper {
  /** This agent, which answers, or was never meant to. */
  record Running() implements Keeper {}

  /** This agent, which only looks. */
  record DryRun() implements Keeper {}

  /** An agent that should answer and does not: it may hang, or cannot listen. */
  record Silent(long pid, String why) implements Keeper {}

  /** Another program by the name of ip-masq-agent. */
  record OtherProgram(long pid) implements Keeper {}

  record Nobody() implements Keeper {}

  /** Whether this agent runs. */
  default boolean runs() {
    return switch (this) {
      case Running(), DryRun(), Silent _ -> true;
      case OtherProgram _, Nobody() -> false;
    };
  }
}
