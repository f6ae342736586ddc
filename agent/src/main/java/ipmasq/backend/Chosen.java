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

  /** The reason, and what the backend met on the node: asked once it has looked there. */
  public String reasonInFull() {
    String circumstances = backend.circumstances();
    return circumstances.isEmpty() ? reason : reason + "; " + circumstances;
  }
}
