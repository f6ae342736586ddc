package ipmasq.netlink.nftables;

import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * Prints a rule: remembers what expressions load into registers, so that later ones can name it.
 * Used by one thread.
 */
final class RuleText {
  private static final Operand NOTHING = new Operand("?", Format.HEX);
  private static final int SLOTS = 16; // of four bytes each

  private final TableFamily family;
  private final StringBuilder text = new StringBuilder();
  private final @Nullable Operand[] slots = new Operand[SLOTS];
  private final BitSet unused = new BitSet();

  RuleText(TableFamily family) {
    this.family = family;
  }

  /** Registers 1 to 4 are four slots each, 8 to 23 are the slots themselves. */
  private static int slot(int register) {
    return register >= 1 && register <= 4
        ? (register - 1) * 4
        : register >= 8 && register < 8 + SLOTS ? register - 8 : -1;
  }

  void load(int register, Operand operand) {
    int slot = slot(register);
    if (slot >= 0) {
      slots[slot] = operand;
      unused.set(slot);
    }
  }

  Operand in(int register) {
    int slot = slot(register);
    Operand operand = slot < 0 ? null : slots[slot];
    return operand == null ? NOTHING : operand;
  }

  /**
   * The key that begins in a register. Its length is the set's; here it ends with what was loaded
   * since the last look at registers.
   */
  String key(int register) {
    StringBuilder key = new StringBuilder(in(register).toString());
    int first = slot(register);
    for (int i = unused.nextSetBit(first + 1); first >= 0 && i >= 0; i = unused.nextSetBit(i + 1)) {
      key.append(" . ").append(slots[i]);
    }
    unused.clear();
    return key.toString();
  }

  /** The family to name in a statement; empty if the table has only one. */
  String family(TableFamily of) {
    return family == of ? "" : of + " ";
  }

  /** What two registers hold, as a range. */
  String range(int first, int last, Format format) {
    String from = shown(first, format);
    String to = shown(last, format);
    return from.equals(to) ? from : from + "-" + to;
  }

  private String shown(int register, Format format) {
    Operand operand = in(register);
    return operand.constant().map(format::show).orElse(operand.toString());
  }

  void say(String words) {
    unused.clear();
    text.append(text.isEmpty() ? "" : " ").append(words);
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
