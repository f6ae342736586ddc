/** What tests share: a lab of network namespaces with real packets, and fakes. */
module ipmasq.testkit {
  requires transitive ipmasq.core;
  requires ipmasq.netlink;
  requires org.junit.jupiter.api;
  requires static org.jspecify;

  exports ipmasq.testkit;
}
