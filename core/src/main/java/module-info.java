/**
 * What the agent is about, as values: addresses, policies, plans, and what a backend has to do. It
 * touches no file, no kernel and no process.
 */
module ipmasq.core {
  requires static org.jspecify;

  exports ipmasq.backend;
  exports ipmasq.json;
  exports ipmasq.net;
  exports ipmasq.plan;
  exports ipmasq.policy;
}
