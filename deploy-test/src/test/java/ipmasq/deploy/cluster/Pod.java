package ipmasq.deploy.cluster;

/**
 * A pod that does nothing but have an address.
 *
 * @param namespace what {@code ip netns} calls its network namespace
 */
record Pod(String name, ClusterNode node, String address, String namespace) {
  @Override
  public String toString() {
    return name + " on " + node.name();
  }
}
