package ipmasq.netlink.xtables;

import java.util.Arrays;
import java.util.List;

/**
 * Where the built-in chains of a table begin and end, in bytes, and how large it is.
 *
 * @param starts the first rule at each hook
 * @param ends the policy at each hook
 * @param rules how many, with policies and chain heads
 * @param size of the table in bytes
 */
public record TableShape(List<Integer> starts, List<Integer> ends, int rules, int size) {
  private static final int NF_INET_POST_ROUTING = 4;

  public TableShape {
    starts = List.copyOf(starts);
    ends = List.copyOf(ends);
  }

  static TableShape of(int[] starts, int[] ends, int rules, int size) {
    return new TableShape(
        Arrays.stream(starts).boxed().toList(), Arrays.stream(ends).boxed().toList(), rules, size);
  }

  int postroutingStart() {
    return starts.get(NF_INET_POST_ROUTING);
  }

  int postroutingEnd() {
    return ends.get(NF_INET_POST_ROUTING);
  }
}
