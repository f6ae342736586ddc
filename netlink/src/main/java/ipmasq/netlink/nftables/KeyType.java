package ipmasq.netlink.nftables;

/**
 * What the elements of a set are.
 *
 * @param id nft's number for the type, {@code TYPE_*} there; the kernel only hands it on
 * @param length in bytes
 */
public record KeyType(int id, int length) {
  public static final KeyType IPV4_ADDR = new KeyType(7, 4);
  public static final KeyType IPV6_ADDR = new KeyType(8, 16);
}
