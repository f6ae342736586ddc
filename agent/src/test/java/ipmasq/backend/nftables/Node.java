package ipmasq.backend.nftables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.backend.Observation;
import ipmasq.backend.Outcome;
import ipmasq.net.Family;
import ipmasq.plan.Observed;
import ipmasq.plan.Plan;
import ipmasq.policy.Policy;
import ipmasq.testkit.Eventually;
import ipmasq.testkit.Namespace;
import java.util.List;

/** The backend at work in a namespace, and what {@code nft} says of it. */
final class Node implements AutoCloseable {
  private final Namespace namespace;
  private NftablesBackend table;

  private Node(Namespace namespace, NftablesBackend table) {
    this.namespace = namespace;
    this.table = table;
  }

  /** With a table that has an owner, or as on a kernel that does not know owners. */
  Node(Namespace namespace, boolean owned) {
    this(namespace, owned ? NftablesBackend.owning() : NftablesBackend.withoutOwner());
  }

  /** As on a kernel that knows no more than this. */
  static Node onKernel(Namespace namespace, KernelFeatures features) {
    return new Node(namespace, NftablesBackend.with(features));
  }

  /** The process ends, and another one starts. */
  void restart() {
    table.close();
    table = NftablesBackend.owning();
    // A child that another test forked in this moment holds the socket until it becomes a program.
    Eventually.eventually("given up", () -> owner(), owner -> owner == 0);
  }

  private int owner() {
    return assertInstanceOf(NftablesObserved.class, observe(Family.IPV4)).owner();
  }

  NftablesBackend table() {
    return table;
  }

  Observed observe(Family family) {
    return namespace.call(
        () -> assertInstanceOf(Observation.Seen.class, table.observe(family)).observed());
  }

  Outcome apply(Plan plan) {
    return namespace.call(() -> table.apply(plan));
  }

  Plan plan(Policy policy) {
    return Plan.toward(table.normalize(policy), observe(policy.family()));
  }

  /** Puts a policy in force and sees that it is; returns what had to be changed for it. */
  Plan sync(Policy policy) {
    Plan plan = plan(policy);
    assertEquals(new Outcome.Applied(), apply(plan));
    assertEquals(List.of(), plan(policy).changes());
    if (policy.destinations().size() <= TableUpdate.COUNTED) {
      assertStrangersSee(policy);
    }
    return plan;
  }

  /** One who knows nothing and reads everything. */
  void assertStrangersSee(Policy policy) {
    try (NftablesBackend stranger = NftablesBackend.withoutOwner()) {
      Observation seen = namespace.call(() -> stranger.observe(policy.family()));
      assertEquals(
          table.normalize(policy),
          assertInstanceOf(Observation.Seen.class, seen).observed().policy().orElseThrow());
    }
  }

  /** Removes all that is ours and sees that nothing is left. */
  void remove(Family family) {
    assertEquals(new Outcome.Applied(), apply(Plan.removal(observe(family))));
    assertTrue(observe(family).absent());
  }

  /**
   * Our table as {@code nft} prints it, with two blanks for each tab, without the owner and without
   * a flag that nft knows only from 1.1 on.
   */
  String listed() {
    return namespace
        .nft("list", "table", "inet", "ip-masq-agent")
        .replace("\t", "  ")
        .replace(" # progname java", "")
        .replace("flags owner,persist\n", "flags owner\n");
  }

  /** Another process does something to the ruleset. */
  void others(String commands) {
    namespace.feed(commands, "nft", "-f", "-").ok();
  }

  /** Whether the kernel refuses another process's commands. */
  boolean refuses(String commands) {
    return namespace.feed(commands, "nft", "-f", "-").exit() != 0;
  }

  @Override
  public void close() {
    table.close();
  }
}
