package ipmasq.bench;

import ipmasq.testkit.Lab;
import java.util.random.RandomGenerator;

/** A lab whose node has one layout, and whose outside swallows what reaches it. */
record Site(Layout layout, Lab lab, Layout.Held held, Sender sender) implements AutoCloseable {
  static Site open(Layout layout, Ranges ranges, RandomGenerator random) {
    Lab lab = Lab.open();
    try {
      // An answer would be work that is none of the node's.
      Command.run(
              lab.outside(),
              """
              table netdev sink {
                chain ingress {
                  type filter hook ingress device node0 priority 0; meta l4proto { tcp, udp } drop
                }
              }
              """,
              "nft",
              "-f",
              "-")
          .ok();
      Layout.Held held = layout.install(lab.node(), ranges);
      return new Site(layout, lab, held, new Sender(lab, ranges, random));
    } catch (RuntimeException | Error e) {
      lab.close();
      throw e;
    }
  }

  /** So that every repetition finds the same: no flow that the node remembers. */
  void forgetFlows() {
    lab.node().run("conntrack", "-F");
  }

  @Override
  public void close() {
    sender.close();
    held.close();
    lab.close();
  }
}
