package ipmasq.json;

/** Bytes that are not the JSON they should be, from this byte on. */
public final class MalformedJson extends Exception {
  private static final long serialVersionUID = 1L;
  private final int at;

  public MalformedJson(int at, String what) {
    super(what, null, false, false);
    this.at = at;
  }

  /** The byte, from 0. */
  public int at() {
    return at;
  }

  /** What is wrong there. */
  public String what() {
    return String.valueOf(getMessage());
  }
}
