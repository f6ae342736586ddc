package ipmasq.netlink.nftables;

import ipmasq.netlink.nftables.Compute.Bitwise;
import ipmasq.netlink.nftables.Match.Cmp.Operator;
import java.util.Arrays;
import java.util.Optional;

/**
 * What a register holds, for people.
 *
 * @param text the field it was loaded from
 * @param width the length of the whole field if only part of it was loaded; 0: all of it was
 * @param mask the bits that were kept
 * @param constant what it holds, if known
 */
record Operand(
    String text, Format format, int width, Optional<Bitwise> mask, Optional<Data> constant) {
  Operand(String text, Format format) {
    this(text, format, 0, Optional.empty(), Optional.empty());
  }

  static Operand address(String text, int width) {
    return new Operand(text, Format.ADDRESS, width, Optional.empty(), Optional.empty());
  }

  static Operand constant(Data data) {
    return new Operand(data.toString(), Format.HEX, 0, Optional.empty(), Optional.of(data));
  }

  Operand masked(Bitwise by) {
    return new Operand(toString(), format, width, Optional.of(by), Optional.empty());
  }

  boolean isMasked() {
    return mask.isPresent();
  }

  /** With its number in the other byte order. */
  Operand turned() {
    Format other = format == Format.HOST ? Format.NUMBER : format;
    return new Operand(text, other, width, mask, constant.map(Data::reversed));
  }

  String shown(Data data) {
    return format.show(data);
  }

  String compared(Operator operator, Data data) {
    if (mask.isPresent() && isZero(mask.get().xor())) {
      Data bits = mask.get().mask();
      if (format.isBits() && operator == Operator.NEQ && isZero(data)) {
        return text + " " + format.show(bits);
      }
      int prefix = prefix(bits);
      if (format == Format.ADDRESS && prefix >= 0 && isEquality(operator)) {
        return text + " " + sign(operator) + padded(data) + "/" + prefix;
      }
      String sign = operator == Operator.EQ ? "== " : sign(operator);
      return text + " & " + format.show(bits) + " " + sign + format.show(data);
    }
    if (mask.isPresent()) {
      String sign = operator == Operator.EQ ? "== " : sign(operator);
      return this + " " + sign + format.show(data);
    }
    if (width > data.length() && isEquality(operator)) {
      return text + " " + sign(operator) + padded(data) + "/" + data.length() * 8;
    }
    return text + " " + sign(operator) + format.show(data);
  }

  private static String sign(Operator operator) {
    return switch (operator) {
      case EQ -> "";
      case NEQ -> "!= ";
      case LT -> "< ";
      case LTE -> "<= ";
      case GT -> "> ";
      case GTE -> ">= ";
    };
  }

  private static boolean isEquality(Operator operator) {
    return operator == Operator.EQ || operator == Operator.NEQ;
  }

  private String padded(Data data) {
    return format.show(Data.of(Arrays.copyOf(data.bytes(), Math.max(width, data.length()))));
  }

  private static boolean isZero(Data data) {
    for (byte each : data.bytes()) {
      if (each != 0) {
        return false;
      }
    }
    return true;
  }

  /** The prefix length of the mask; -1 if it is not a prefix. */
  private static int prefix(Data mask) {
    int bits = 0;
    boolean ended = false;
    for (byte each : mask.bytes()) {
      for (int bit = 7; bit >= 0; bit--) {
        boolean set = (each >> bit & 1) != 0;
        if (set && ended) {
          return -1;
        }
        ended |= !set;
        bits += set ? 1 : 0;
      }
    }
    return bits;
  }

  /** The field, and what was done to its bits: {@code meta mark & 0x0000001f | 0x00000010}. */
  @Override
  public String toString() {
    if (mask.isEmpty()) {
      return text;
    }
    byte[] kept = mask.get().mask().bytes();
    byte[] flipped = mask.get().xor().bytes();
    byte[] set = new byte[kept.length];
    for (int i = 0; i < kept.length; i++) {
      set[i] = (byte) (flipped[i] & ~kept[i]);
      flipped[i] &= kept[i];
      kept[i] |= set[i];
    }
    byte[] all = new byte[kept.length];
    Arrays.fill(all, (byte) 0xff);
    return text
        + (Arrays.equals(kept, all) ? "" : " & " + format.show(Data.of(kept)))
        + (isZero(Data.of(flipped)) ? "" : " ^ " + format.show(Data.of(flipped)))
        + (isZero(Data.of(set)) ? "" : " | " + format.show(Data.of(set)));
  }
}
