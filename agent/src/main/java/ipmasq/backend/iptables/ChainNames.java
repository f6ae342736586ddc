package ipmasq.backend.iptables;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The names of our chains.
 *
 * @param main the chain that POSTROUTING jumps to
 * @param out the chain that translates; used only if there are exceptions
 * @param former names that only this agent, or one that it replaces, gives to chains
 * @param all whether every chain with our comments is ours, whatever its name
 */
record ChainNames(String main, String out, Set<String> former, boolean all) {
  static final String POSTROUTING = "POSTROUTING";

  /** Used by GCE's bootstrap script and by the first releases. */
  private static final List<String> OF_OLD = List.of("IP-MASQ", "NON-MASQUERADE-DAEMON");

  private static final int LONGEST = 28; // the kernel's 32, less what iptables reserves

  /** The names for a valid chain name; the config reader has checked it. */
  static ChainNames of(String chain) {
    return of(chain, Set.of(), false);
  }

  /**
   * @param before chains that this process kept under an earlier config
   * @param all whether every chain with our comments is ours
   */
  static ChainNames of(String chain, Set<String> before, boolean all) {
    // The config reader says what is wrong with a name; no other text must get into a restore.
    if (!chain.matches("[^-!\"'\\\\\\P{Graph}][^\"'\\\\\\P{Graph}]{0,27}")) {
      throw new IllegalArgumentException("not a name for a chain: " + chain);
    }
    Set<String> former = new LinkedHashSet<>(OF_OLD);
    for (String name : before) {
      former.add(name);
      former.add(out(name));
    }
    former.remove(chain);
    former.remove(out(chain));
    return new ChainNames(chain, out(chain), former, all);
  }

  private static String out(String chain) {
    String out = chain.substring(0, Math.min(chain.length(), LONGEST - 4)) + "-OUT";
    return out.equals(chain) ? chain.substring(0, LONGEST - 4) + "-VIA" : out;
  }

  /** Chains to look for by name. */
  Set<String> ours() {
    Set<String> ours = new LinkedHashSet<>(List.of(main, out));
    ours.addAll(former);
    if (all) {
      ours.add("IP-MASQ-AGENT");
      ours.add("IP-MASQ-AGENT-OUT");
    }
    return ours;
  }

  /** Whether it is one of the two that the config asks for. */
  boolean current(String chain) {
    return chain.equals(main) || chain.equals(out);
  }

  /** Whether a chain with our comments, or with none, is ours to remove. */
  boolean stale(String chain) {
    return !current(chain) && (all || former.contains(chain));
  }
}
