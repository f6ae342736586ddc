package ipmasq.backend.iptables;

import ipmasq.backend.iptables.SavedTable.Line;
import ipmasq.policy.Policy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The input of one {@code iptables-restore --noflush --counters} that leads from the observed to
 * the desired rules:
 *
 * <pre>
 *   *nat
 *   :CHAIN - [0:0]              makes a chain, or empties it
 *   -D POSTROUTING …            jumps of earlier versions, as they wrote them
 *   [packets:bytes] -A CHAIN …  a rule that was there before keeps its counters
 *   -A POSTROUTING …            only if the jump is missing
 *   -X CHAIN                    chains that are left over
 *   COMMIT
 * </pre>
 *
 * <p>No rule is addressed by number: another program may add one between the read and the write.
 */
final class RestoreInput {
  private final StringBuilder text = new StringBuilder("*nat\n");
  private final List<String> leftOver = new ArrayList<>();
  private final int nothing = text.length();

  private RestoreInput() {}

  /** Empty if there is nothing to do. */
  static String text(IptablesObserved found, Optional<Policy> desired, ChainNames names) {
    RestoreInput restore = new RestoreInput();
    found.stale().chains().forEach(restore::takeAway);
    if (desired.isPresent()) {
      restore.install(found, IptablesLayout.of(desired.get(), names), names);
    } else {
      restore.remove(found, names);
    }
    return restore.finish();
  }

  private void install(IptablesObserved found, IptablesLayout desired, ChainNames names) {
    Optional<List<IptablesRule>> main = found.layout().map(IptablesLayout::main);
    Optional<List<IptablesRule>> out = found.layout().map(IptablesLayout::out);
    boolean writeMain = !found.main().there() || !main.equals(Optional.of(desired.main()));
    boolean writeOut = !desired.out().isEmpty() && !out.equals(Optional.of(desired.out()));
    if (writeMain) {
      declare(names.main());
    }
    if (writeOut) {
      declare(names.out());
    } else if (desired.out().isEmpty()) {
      dismiss(found.out(), names.out());
    }
    found.stale().jumps().forEach(this::delete);
    // Of equal rules the kernel deletes the first, so the last one stays.
    for (int i = 1; i < found.jumps().size(); i++) {
      delete(found.jumps().get(i - 1));
    }
    Map<IptablesRule, String> counters = new HashMap<>(found.counters());
    if (writeMain) {
      append(names.main(), desired.main(), counters);
    }
    if (writeOut) {
      append(names.out(), desired.out(), counters);
    }
    if (found.jumps().isEmpty()) {
      append(
          ChainNames.POSTROUTING,
          List.of(IptablesRule.jump(found.family(), names.main())),
          new HashMap<>());
    }
  }

  private void remove(IptablesObserved found, ChainNames names) {
    dismiss(found.main(), names.main());
    dismiss(found.out(), names.out());
    found.stale().jumps().forEach(this::delete);
    found.jumps().forEach(this::delete);
  }

  private void declare(String chain) {
    text.append(':').append(chain).append(" - [0:0]\n");
  }

  private void takeAway(String chain) {
    declare(chain);
    leftOver.add(chain);
  }

  /** A chain that another program's rule jumps to cannot be deleted, so it is emptied. */
  private void dismiss(IptablesObserved.Own own, String chain) {
    if (!own.gone()) {
      declare(chain);
      if (!own.used()) {
        leftOver.add(chain);
      }
    }
  }

  private void delete(Line line) {
    text.append("-D ").append(line.chain()).append(' ').append(line.text()).append('\n');
  }

  private void append(String chain, List<IptablesRule> rules, Map<IptablesRule, String> counters) {
    text.ensureCapacity(text.length() + rules.size() * 160);
    for (IptablesRule rule : rules) {
      String kept = counters.remove(rule);
      if (kept != null && !kept.isEmpty()) {
        text.append(kept).append(' ');
      }
      text.append("-A ").append(chain).append(' ');
      rule.write(text);
      text.append('\n');
    }
  }

  private String finish() {
    leftOver.forEach(chain -> text.append("-X ").append(chain).append('\n'));
    return text.length() == nothing ? "" : text.append("COMMIT\n").toString();
  }
}
