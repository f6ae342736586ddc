package ipmasq.status;

import ipmasq.hook.Conflict;
import ipmasq.hook.Conflicts;
import ipmasq.hook.Hook;
import ipmasq.hook.NodeLinks;
import ipmasq.policy.Policy;
import java.util.List;

/** All rules at the hook, those that override the config, and the interfaces of the time. */
public record HookSample(Hook hook, List<Conflict> conflicts, NodeLinks links) {
  public HookSample {
    conflicts = List.copyOf(conflicts);
  }

  /**
   * @param policy what the config asks for
   */
  public static HookSample of(Hook hook, Policy policy, NodeLinks links) {
    return new HookSample(hook, Conflicts.in(hook, policy, links), links);
  }
}
