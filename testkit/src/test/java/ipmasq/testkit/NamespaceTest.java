package ipmasq.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

@KernelTest
class NamespaceTest {
  private static final InetSocketAddress LOOPBACK = new InetSocketAddress("127.0.0.1", 7001);

  @Test
  void commandsRunInsideAndTellHowTheyEnded() {
    try (Namespace namespace = Namespace.open("test")) {
      assertTrue(namespace.run("ip", "-br", "link").ok().startsWith("lo "));
      Result failed = namespace.run("sh", "-c", "echo out; echo err >&2; exit 3");
      assertEquals(3, failed.exit());
      assertEquals("out\n", failed.stdout());
      assertEquals("err\n", failed.stderr());
      assertThrows(AssertionError.class, failed::ok);
      assertEquals("fed", namespace.feed("fed", "cat").ok());
    }
  }

  @Test
  void rulesStayInside() {
    try (Namespace one = Namespace.open("one");
        Namespace two = Namespace.open("two")) {
      one.nft("add", "table", "inet", "mine");
      one.run("iptables", "-t", "nat", "-N", "MINE").ok();
      assertTrue(one.nft("list", "ruleset").contains("table inet mine"));
      assertTrue(one.iptablesSave("nat").contains(":MINE"));
      assertEquals("", two.nft("list", "ruleset"));
    }
  }

  @Test
  void commandsThatHangAreEnded() {
    try (Namespace namespace = Namespace.open("test")) {
      Duration shortly = Duration.ofMillis(50);
      assertThrows(
          AssertionError.class, () -> namespace.runWithin(shortly, "sh", "-c", "sleep 60 & wait"));
    }
  }

  @Test
  void socketsBelongWhereTheyWereOpened() throws IOException {
    try (Namespace one = Namespace.open("one");
        Namespace two = Namespace.open("two");
        ServerSocketChannel first = one.call(ServerSocketChannel::open);
        ServerSocketChannel second = two.call(ServerSocketChannel::open);
        ServerSocketChannel third = one.call(ServerSocketChannel::open)) {
      first.bind(LOOPBACK);
      second.bind(LOOPBACK);
      assertThrows(BindException.class, () -> third.bind(LOOPBACK));
    }
  }

  @Test
  void whatCodeInsideThrowsComesOut() {
    try (Namespace namespace = Namespace.open("test")) {
      assertThrows(IOException.class, () -> namespace.call(NamespaceTest::fail));
    }
    Namespace closed = Namespace.open("closed");
    closed.close();
    assertThrows(IOException.class, () -> closed.call(() -> 1));
  }

  private static Object fail() throws IOException {
    throw new IOException("no");
  }

  @Test
  void virtualThreadsMayNotEnter() throws Exception {
    try (Namespace namespace = Namespace.open("test")) {
      FutureTask<Boolean> task =
          new FutureTask<>(
              () -> {
                assertThrows(
                    IllegalStateException.class, () -> NetworkNamespace.enter(namespace.name()));
                return true;
              });
      Thread.ofVirtual().start(task);
      assertTrue(task.get(5, TimeUnit.SECONDS));
    }
  }

  @Test
  void nothingIsLeft() throws Exception {
    String name;
    Process inside;
    try (Lab lab = Lab.open()) {
      name = lab.node().name();
      assertTrue(named().contains(name));
      inside = lab.node().processBuilder("sh", "-c", "echo inside; exec sleep 600").start();
      assertEquals("inside", inside.inputReader().readLine());
    }
    assertTrue(inside.waitFor(5, TimeUnit.SECONDS));
    assertFalse(named().contains(name.substring(0, name.lastIndexOf('-'))));
  }

  @Test
  void namespacesOfDeadProcessesAreSweptByTheNextOne() throws Exception {
    Process gone = new ProcessBuilder("true").start();
    gone.waitFor();
    String stale = "ipmq-j" + gone.pid() + "-1-node";
    String living = "ipmq-j" + ProcessHandle.current().pid() + "-999-node";
    try {
      Commands.run("ip", "netns", "add", stale).ok();
      Commands.run("ip", "netns", "add", living).ok();
      Leftovers.sweep();
      assertFalse(named().contains(stale));
      assertTrue(named().contains(living));
    } finally {
      Commands.run("ip", "netns", "del", living);
    }
  }

  private static String named() {
    return Commands.run("ip", "netns", "list").ok();
  }
}
