package ipmasq.deploy.cluster;

/**
 * A pod that does nothing but have addresses.
 *
 * @param namespace what {@code ip netns} calls its network namespace
 */
record Pod(String name, ClusterNode node, String address, String address6, String namespace) {
  @Override
  public String toString() {
    return node.name() + "'s " + name;
  }
}
