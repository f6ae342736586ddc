package ipmasq.json;

import java.util.LinkedHashMap;
import org.jspecify.annotations.Nullable;

/** An object to be written: names and values, in order. */
public final class Fields extends LinkedHashMap<String, @Nullable Object> {
  private static final long serialVersionUID = 1;

  /**
   * @param value an {@link java.util.Optional} for one that may be null
   */
  public Fields with(String name, @Nullable Object value) {
    put(name, value);
    return this;
  }
}
