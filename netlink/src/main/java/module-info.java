/** Netlink for the JVM: sockets, messages, nf_tables. The only module with native access. */
module ipmasq.netlink {
  requires static org.jspecify;

  exports ipmasq.netlink;
  exports ipmasq.netlink.nftables;
}
