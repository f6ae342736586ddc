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
public record EarlierMark(List<Condition> path, MarkPlace place, long bits) {
  private static final int MOST_STEPS = 20_000;
  private static final Marks ANY = Marks.zero(0xffff_ffffL);

  public EarlierMark {
    path = List.copyOf(path);
  }

  /** Any packet may have any mark. */
  public static EarlierMark unknown() {
    return new EarlierMark(List.of(), MarkPlace.AFTER_ROUTING, 0xffff_ffffL);
  }

  /** Whether kube-proxy's chain marks only packets to services; the one that marks may be used. */
  public static boolean isOfServices(String chain) {
    return chain.startsWith("KUBE-") && !chain.equals("KUBE-MARK-MASQ");
  }

  boolean mayMark(Flow flow) {
    Flow seen =
        switch (place) {
          case ON_A_LINK -> flow.onAnyLink();
          case BEFORE_ROUTING -> flow.beforeRouting();
          case AFTER_ROUTING -> flow;
        };
    return path.stream().noneMatch(condition -> condition.holds(seen, ANY) == Truth.NO);
  }

  /** Where it is set, which tells what its conditions see. */
  public enum MarkPlace {
    /** A chain of a device or a bridge: its interfaces may be ports of others. */
    ON_A_LINK,
    /** No packet has an output interface yet. */
    BEFORE_ROUTING,
    AFTER_ROUTING
  }

  /**
   * All in a base chain and the chains that it leads to.
   *
   * @param hook the name of its hook: the node's own packets pass OUTPUT, all others PREROUTING
   * @param onLink whether it is a chain of a device or a bridge
   * @param asked rules that set none of these bits do not matter
   */
  public static List<EarlierMark> in(BaseChain base, String hook, boolean onLink, long asked) {
    MarkPlace place =
        onLink
            ? MarkPlace.ON_A_LINK
            : hook.equals("PREROUTING") || hook.equals("INGRESS")
                ? MarkPlace.BEFORE_ROUTING
                : MarkPlace.AFTER_ROUTING;
    Scan scan = new Scan(base, place, asked);
    scan.chain(base.entry(), packets(hook));
    return scan.stepsLeft < 0 ? List.of(unknown()) : scan.found;
  }

  private static List<Condition> packets(String hook) {
    return switch (hook) {
      case "OUTPUT" -> List.of(new Condition.LocalSource());
      case "POSTROUTING" -> List.of();
      default -> List.of(new Condition.Not(new Condition.LocalSource()));
    };
  }

  private static final class Scan {
    private final BaseChain base;
    private final MarkPlace place;
    private final long asked;
    private final List<EarlierMark> found = new ArrayList<>();
    private final Set<String> inside = new HashSet<>();
    private int stepsLeft = MOST_STEPS;

    Scan(BaseChain base, MarkPlace place, long asked) {
      this.base = base;
      this.place = place;
      this.asked = asked;
    }

    void chain(String name, List<Condition> path) {
      List<Rule> rules = base.chains().rules(name).orElse(null);
      if (rules == null) {
        found.add(new EarlierMark(path, place, asked));
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
          found.add(new EarlierMark(all, place, bits));
        }
        if (rule.action() instanceof Action.Ask
            || rule.action() instanceof Action.UnknownAction(var text) && text.startsWith("vmap")) {
          found.add(new EarlierMark(all, place, asked)); // where it leads to is not known
        }
        rule.target().ifPresent(target -> chain(target, all));
      }
      inside.remove(name);
    }
  }
}
