package ipmasq.backend.iptables;

import ipmasq.config.Config;
import ipmasq.iptables.Listing;
import ipmasq.net.Family;
import ipmasq.policy.Policy;
import java.util.Optional;

/** Whatever iptables-save prints, it is found unreadable or there is a way from there. */
public final class SavedTableTarget {
  private static final ChainNames NAMES = ChainNames.of("IP-MASQ-AGENT");
  private static final Policy WANTED = Config.defaults().policy(Family.IPV4);

  private SavedTableTarget() {}

  public static void fuzzerTestOneInput(byte[] data) {
    SavedTable table = new SavedTable(NAMES);
    Listing lines = new Listing(table::accept);
    lines.accept(data, data.length);
    lines.end();
    if (table.unreadable().isPresent()) {
      return;
    }
    for (Family family : Family.values()) {
      IptablesObserved found = IptablesObserved.in(table, family, NAMES);
      whole(RestoreInput.text(found, Optional.empty(), NAMES));
      if (family == Family.IPV4) {
        whole(RestoreInput.text(found, Optional.of(WANTED), NAMES));
      }
    }
  }

  /** One table, and no line that an other's words could have broken in two. */
  private static void whole(String text) {
    if (!text.isEmpty() && !(text.startsWith("*nat\n") && text.endsWith("\nCOMMIT\n"))) {
      throw new AssertionError(text);
    }
  }
}
