/**
 * Netlink for the JVM: sockets, messages, nf_tables, conntrack, ipset, xtables. The only module
 * with native access.
 */
module ipmasq.netlink {
  requires static org.jspecify;

  exports ipmasq.netlink;
  exports ipmasq.netlink.conntrack;
  exports ipmasq.netlink.ipset;
  exports ipmasq.netlink.nftables;
  exports ipmasq.netlink.route;
}
