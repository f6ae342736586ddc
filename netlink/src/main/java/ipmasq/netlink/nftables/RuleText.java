package ipmasq.netlink.nftables;

import org.jspecify.annotations.Nullable;

/**
 * Prints a rule: remembers what expressions load into registers, so that later ones can name it.
 * Used by one thread.
 */
final class RuleText {
  private static final Operand NOTHING = new Operand("?", Format.HEX);

  private final StringBuilder text = new StringBuilder();
  private final @Nullable Operand[] registers = new Operand[24];

  void load(int register, Operand operand) {
    if (register >= 0 && register < registers.length) {
      registers[register] = operand;
    }
  }

  Operand in(int register) {
    Operand operand = register >= 0 && register < registers.length ? registers[register] : NOTHING;
    return operand == null ? NOTHING : operand;
  }

  /** What two registers hold, as a range. */
  String range(int first, int last, Format format) {
    String from = shown(first, format);
    String to = shown(last, format);
    return from.equals(to) ? from : from + "-" + to;
  }

  private String shown(int register, Format format) {
    Operand operand = in(register);
    return operand.constant().map(format::show).orElse(operand.text());
  }

  void say(String words) {
    text.append(text.isEmpty() ? "" : " ").append(words);
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
