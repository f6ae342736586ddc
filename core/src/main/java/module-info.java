/**
 * The agent's domain as values: addresses, policies, plans, and the contract of a backend. It uses
 * no files, no kernel interfaces and no processes.
 */
module ipmasq.core {
  requires static org.jspecify;

  exports ipmasq.backend;
  exports ipmasq.json;
  exports ipmasq.net;
  exports ipmasq.plan;
  exports ipmasq.policy;
}
