package ipmasq.hook;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A rule that may mark packets before they reach nat postrouting.
 *
 * @param path the conditions on the way to it and its own; whether earlier rules took the packets
 *     is not followed
 * @param bits the bits that it may set
 */
public record EarlierMark(List<Condition> path, HookPoint point, long bits) {
  private static final int MOST_STEPS = 20_000;
  private static final Marks ANY = Marks.zero(0xffff_ffffL);

  public EarlierMark {
    path = List.copyOf(path);
  }

  /** Any packet may have any mark. */
  public static EarlierMark unknown() {
    return new EarlierMark(List.of(), HookPoint.POSTROUTING, 0xffff_ffffL);
  }

  /** Whether kube-proxy's chain marks only packets to services; the one that marks may be used. */
  public static boolean isOfServices(String chain) {
    return chain.startsWith("KUBE-") && !chain.equals("KUBE-MARK-MASQ");
  }

  boolean mayMark(Flow flow) {
    Flow seen = point.seen(flow);
    return point.passes(flow)
        && path.stream().noneMatch(condition -> condition.holds(seen, ANY) == Truth.NO);
  }

  /**
   * All in a base chain and the chains that it leads to.
   *
   * @param asked rules that set none of these bits do not matter
   */
  public static List<EarlierMark> in(BaseChain base, long asked) {
    Scan scan = new Scan(base, asked);
    scan.chain(base.entry(), List.of());
    return scan.stepsLeft < 0 ? List.of(unknown()) : scan.found;
  }

  private static final class Scan {
    private final BaseChain base;
    private final long asked;
    private final List<EarlierMark> found = new ArrayList<>();
    private final Set<String> inside = new HashSet<>();
    private int stepsLeft = MOST_STEPS;

    Scan(BaseChain base, long asked) {
      this.base = base;
      this.asked = asked;
    }

    void chain(String name, List<Condition> path) {
      List<Rule> rules = base.chains().rules(name).orElse(null);
      if (rules == null) {
        found.add(new EarlierMark(path, base.point(), asked));
        return;
      }
      if (!inside.add(name)) {
        return; // no packet comes this way twice
      }
      for (Rule rule : rules) {
        if (--stepsLeft < 0) {
          break;
        }
        List<Condition> all = new ArrayList<>(path);
        all.addAll(rule.conditions());
        long bits = rule.mark().map(Action.SetMark::sets).orElse(0L) & asked;
        if (bits != 0) {
          found.add(new EarlierMark(all, base.point(), bits));
        }
        if (rule.action() instanceof Action.Ask
            || rule.action() instanceof Action.UnknownAction(var text) && text.startsWith("vmap")) {
          found.add(new EarlierMark(all, base.point(), asked)); // where it leads to is not known
        }
        rule.target().ifPresent(target -> chain(target, all));
      }
      inside.remove(name);
    }
  }
}
