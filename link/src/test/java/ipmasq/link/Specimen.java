package ipmasq.link;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/** Everything that is settled, and what could go wrong with it, told as a list of strings. */
public final class Specimen implements Supplier<List<String>> {
  sealed interface Shape {
    record Dot() implements Shape {}

    record Line(int length) implements Shape {}

    record Named(String name, Shape shape) implements Shape {}

    /** A switch inside an interface. */
    static String kind(Shape shape) {
      return switch (shape) {
        case Dot _ -> "dot";
        case Line _ -> "line";
        case Named _ -> "named";
      };
    }
  }

  record All(
      boolean z,
      byte b,
      short s,
      char c,
      int i,
      long j,
      float f,
      double d,
      String text,
      int[] array) {}

  /** Has an equals of its own; the rest is the compiler's. */
  record Loose(int kept, int ignored) {
    @Override
    public boolean equals(Object other) {
      return other instanceof Loose loose && loose.kept == kept;
    }

    @Override
    public int hashCode() {
      return kept;
    }
  }

  /** The compiler gathers both patterns into a switch over an int: left as it is. */
  static final class Odd {
    static String describe(Shape shape) {
      return switch (shape) {
        case Shape.Line(int length) when length > 10 -> "long";
        case Shape.Line(int length) when length > 2 -> "middling " + length;
        default -> "other";
      };
    }
  }

  @Override
  public List<String> get() {
    List<String> said = new ArrayList<>();
    Shape dot = new Shape.Dot();
    Shape line = new Shape.Line(3);
    Shape named = new Shape.Named("n", new Shape.Line(12));
    Shape nameless = new Shape.Named(null, dot);
    for (Shape shape : Arrays.asList(dot, line, named, nameless)) {
      said.add(Shape.kind(shape) + " " + describe(shape) + " " + shape + " " + shape.hashCode());
      for (Shape other : Arrays.asList(new Shape.Dot(), new Shape.Line(3), nameless, null)) {
        said.add(String.valueOf(shape.equals(other)));
      }
    }
    said.add(describe(null));
    said.add(Odd.describe(line) + Odd.describe(dot) + Odd.describe(new Shape.Line(11)));
    int[] array = {1};
    All nan = all(Float.NaN, 0.0, array);
    for (All other :
        List.of(all(Float.NaN, 0.0, array), all(Float.NaN, -0.0, array), all(1, 0.0, array))) {
      said.add(nan.equals(other) + " " + text(other));
    }
    said.add(String.valueOf(nan.equals(all(Float.NaN, 0.0, new int[] {1}))));
    said.add(new Loose(1, 2) + " " + new Loose(1, 2).equals(new Loose(1, 3)));
    return said;
  }

  /** Without the array, which prints and hashes as where it lies. */
  private static String text(All all) {
    var whole = all.toString();
    return whole.substring(0, whole.indexOf("array="));
  }

  private static All all(float f, double d, int[] array) {
    return new All(true, (byte) -1, (short) -2, 'c', 7, 1L << 40, f, d, null, array);
  }

  private static String describe(Shape shape) {
    return switch (shape) {
      case null -> "nothing";
      case Shape.Line line when line.length() > 10 -> "long";
      case Shape.Line line when line.length() > 2 -> "middling " + line.length();
      case Shape.Line _ -> "short";
      case Shape.Named(String name, Shape.Line(int length)) -> name + " of " + length;
      case Shape.Named(String name, Shape inner) -> name + " is " + describe(inner);
      case Shape.Dot _ -> "dot";
    };
  }
}
