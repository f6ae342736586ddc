package ipmasq.netlink;

import java.io.IOException;
import java.lang.foreign.Arena;

/**
 * Moves a thread into another network namespace. A namespace is a property of the kernel thread, so
 * only platform threads may enter: a virtual thread would leave its carrier behind there.
 *
 * <p>What the thread creates there stays there: sockets, child processes and the threads it starts.
 * {@code /proc/net} is the view of the process and does not change; {@code /proc/thread-self/net}
 * and {@code /proc/sys/net} are the thread's.
 */
public final class NetworkNamespace {
  private static final long AT_FDCWD = -100;
  private static final long O_CLOEXEC = 0x80000;
  private static final long CLONE_NEWNET = 0x4000_0000;

  private NetworkNamespace() {}

  /** Where {@code ip netns} keeps the namespace of this name. */
  public static String path(String name) {
    return "/run/netns/" + name;
  }

  /** Moves the current thread, for the rest of its life, into a namespace of {@code ip netns}. */
  public static void enter(String name) throws IOException {
    if (Thread.currentThread().isVirtual()) {
      throw new IllegalStateException("a virtual thread cannot enter a network namespace");
    }
    long fd;
    try (Arena arena = Arena.ofConfined()) {
      long path = arena.allocateFrom(path(name)).address();
      fd = Syscalls.call(Syscalls.OPENAT, AT_FDCWD, path, O_CLOEXEC, 0, 0, 0);
    }
    if (fd < 0) {
      throw new IOException("cannot open network namespace " + name + ": errno " + -fd);
    }
    long entered = Syscalls.call(Syscalls.SETNS, fd, CLONE_NEWNET, 0, 0, 0, 0);
    Syscalls.call(Syscalls.CLOSE, fd, 0, 0, 0, 0, 0);
    if (entered < 0) {
      throw new IOException("cannot enter network namespace " + name + ": errno " + -entered);
    }
  }
}
