package ipmasq.sync;

import ipmasq.backend.Backend;
import ipmasq.backend.Watch;
import java.util.List;

/**
 * Where the rules of a config go on this node.
 *
 * @param reason why there, for people
 * @param watch sees changes of the rules there
 * @param others backends whose rules must not stay beside these
 */
public record Target(Backend backend, String reason, Watch watch, List<Backend> others) {
  public Target {
    others = List.copyOf(others);
  }

  /**
   * The reason and what the backend found on the node. To be called after the backend's first look.
   */
  String reasonInFull() {
    String details = backend.details();
    return details.isEmpty() ? reason : reason + "; " + details;
  }
}
