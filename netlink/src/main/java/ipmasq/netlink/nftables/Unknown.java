package ipmasq.netlink.nftables;

/**
 * An expression that this package has no record for, kept as the kernel gave it.
 *
 * @param name the kernel's name for it
 * @param data its attributes
 */
public record Unknown(String name, Data data) implements Expression {
  @Override
  public String toString() {
    return "[" + name + "]";
  }
}
