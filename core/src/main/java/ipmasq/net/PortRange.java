package ipmasq.net;

/** Ports from {@code first} to {@code last}, both included. */
public record PortRange(int first, int last) {
  public PortRange {
    if (first < 1 || last > 65535 || first > last) {
      throw new IllegalArgumentException("not a port range: " + first + "-" + last);
    }
  }

  public int size() {
    return last - first + 1;
  }

  /** As iptables writes it: {@code 5000} or {@code 1024-2000}. */
  @Override
  public String toString() {
    return first == last ? String.valueOf(first) : first + "-" + last;
  }
}
