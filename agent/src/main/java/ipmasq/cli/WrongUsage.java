package ipmasq.cli;

/** A command line that means nothing; the message says why. */
final class WrongUsage extends Exception {
  private static final long serialVersionUID = 1;

  WrongUsage(String message) {
    super(message);
  }
}
