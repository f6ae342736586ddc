/** The agent. Nothing here is an API: it is run, not called. */
module ipmasq.agent {
  requires ipmasq.cni;
  requires ipmasq.core;
  requires ipmasq.netlink;
  requires org.snakeyaml.engine.v2;
  requires static org.jspecify;
}
