/**
 * What tests, the demo and the benchmarks share: a lab of network namespaces in which real packets
 * run, and equipment to make an agent's life hard. Knows nothing of the agent's code; uses the
 * netlink module to enter namespaces.
 *
 * <pre>
 *    pod                              node                              outside
 *   +----------------+     +-----------------------------+     +--------------------------+
 *   | eth0           |     | pod0                   eth0 |     | node0                    |
 *   |  10.244.1.2/24 |=====| 10.244.1.1    192.0.2.10/24 |=====| 192.0.2.1/24             |
 *   |  fd00:244:1::2 |     | fd00:244:1::1 2001:db8:2::10|     | 2001:db8:2::1            |
 *   +----------------+     |               fe80::10      |     | fe80::1                  |
 *                          |                             |     |                          |
 *    addPod(v4, v6)  ======| pod1                   eth1 |=====| node1    addUplink(v4, v6)
 *                          +-----------------------------+     +--------------------------+
 *                            forwards; the agent runs here       is every other address too
 * </pre>
 *
 * <p>The outside host takes each packet that reaches it for its own, whatever its destination, and
 * answers to whatever source it came from, a pod's private one too. So {@link
 * ipmasq.testkit.Lab#send} to any address tells what the world would have seen. The same port is
 * watched on all hosts: a packet that ends on the node or at another pod is seen there.
 *
 * <pre>{@code
 * try (Lab lab = Lab.open()) {
 *   lab.node().run("iptables", "-t", "nat", "-A", "POSTROUTING", "-j", "MASQUERADE").ok();
 *   assertEquals(Lab.NODE.v4(), lab.send(Probe.udp("8.8.8.8")).source());
 * }
 * }</pre>
 *
 * <p>On the node an {@link ipmasq.testkit.AgentProcess} runs with a {@link
 * ipmasq.testkit.ConfigVolume} and, for faults, with {@link ipmasq.testkit.FakePrograms}; {@link
 * ipmasq.testkit.Eventually} waits for what it does.
 *
 * <h2>What no lab can show</h2>
 *
 * <ul>
 *   <li>A packet from a pod to {@code fe80::/10}: no router forwards one. What the rule for
 *       link-local IPv6 does shows with a packet from the node itself, with a global source, to
 *       {@link ipmasq.testkit.Lab#neighbour}: exempt, it arrives from that source; masqueraded,
 *       from {@code fe80::10}. Link-local IPv4 is forwarded like anything else.
 *   <li>SCTP, on kernels without it and because the JDK has no such socket without a library.
 * </ul>
 *
 * <p>A fresh namespace does not track connections until some rule needs it: flows that began before
 * the first nat rule are judged again by it.
 *
 * <h2>Rules for code inside a namespace</h2>
 *
 * <ul>
 *   <li>Threads inherit the namespace of the thread that starts them. Code given to {@link
 *       ipmasq.testkit.Namespace#call} must not start any that live on, and no virtual ones.
 *   <li>{@code /proc/net} read by such code is that of the JVM, not of the namespace; child
 *       processes see the right one. {@code /sys/class/net} is the machine's for both.
 *   <li>{@code iptables-legacy} locks the machine's {@code /run/xtables.lock} in every namespace:
 *       give {@code -w}, or set {@code XTABLES_LOCKFILE}.
 * </ul>
 */
@NullMarked
package ipmasq.testkit;

import org.jspecify.annotations.NullMarked;
