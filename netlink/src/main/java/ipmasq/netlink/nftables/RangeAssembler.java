package ipmasq.netlink.nftables;

import ipmasq.netlink.nftables.Statement.Counter;
import java.util.Arrays;

/**
 * Assembles ranges from the elements of an interval set. Used by one thread.
 *
 * <p>The kernel lists them from the last to the first: the key after a range, then the first of it.
 * nft also adds an end before the first range, which closes nothing.
 *
 * <pre>
 *   240.0.0.0   12.0.0.0 end   11.0.0.0   11.0.0.0 end   10.0.0.0   0.0.0.0 end
 *   |→ to the last address     |----------|              |
 * </pre>
 */
final class RangeAssembler implements ElementVisitor {
  private final RangeVisitor visitor;
  private final byte[] first;
  private final byte[] last;
  private boolean ended;

  RangeAssembler(NftSet set, RangeVisitor visitor) {
    this.visitor = visitor;
    first = new byte[set.key().length()];
    last = new byte[set.key().length()];
  }

  @Override
  public void element(byte[] key, boolean end, Counter counter) {
    if (end) {
      System.arraycopy(key, 0, last, 0, last.length);
      ElementWriter.decrement(last);
      ended = true;
      return;
    }
    System.arraycopy(key, 0, first, 0, first.length);
    if (!ended) {
      Arrays.fill(last, (byte) 0xff);
    }
    ended = false;
    visitor.range(first, last);
  }
}
