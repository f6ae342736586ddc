package ipmasq.backend;

import java.util.List;

/**
 * The backend for a config.
 *
 * @param reason why this one, for people
 * @param watch an eye on its rules
 * @param others those whose rules must not stay beside this one's
 */
public record Chosen(Backend backend, String reason, Watch watch, List<Backend> others) {
  public Chosen {
    others = List.copyOf(others);
  }
}
