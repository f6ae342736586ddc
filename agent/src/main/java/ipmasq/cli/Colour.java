package ipmasq.cli;

import ipmasq.plan.Change;
import java.io.Console;

/** How changes look: in colour for people at a terminal, unless they have set NO_COLOR. */
enum Colour {
  NONE,
  ANSI;

  private static final String RESET = "\u001b[0m";

  @SuppressWarnings("SystemConsoleNull") // null if neither end is a terminal
  static Colour ofTerminal() {
    String refused = System.getenv("NO_COLOR");
    Console console = System.console();
    boolean terminal = console != null && console.isTerminal();
    return terminal && (refused == null || refused.isEmpty()) ? ANSI : NONE;
  }

  String of(Change change) {
    return switch (this) {
      case NONE -> change.toString();
      case ANSI ->
          switch (change.kind()) {
                case ADD -> "\u001b[32m";
                case REMOVE -> "\u001b[31m";
                case REPAIR -> "\u001b[33m";
              }
              + change
              + RESET;
    };
  }
}
