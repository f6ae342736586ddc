package ipmasq.faults;

/** How long the tests may take: short for every build, long on request. */
public final class Form {
  private static final boolean LONG = Boolean.getBoolean("ipmasq.long");

  private Form() {}

  public static int of(int inShort, int inLong) {
    return LONG ? inLong : inShort;
  }

  public static boolean isLong() {
    return LONG;
  }
}
