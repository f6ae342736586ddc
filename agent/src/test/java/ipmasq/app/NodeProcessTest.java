package ipmasq.app;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NodeProcessTest {
  /** Links cannot be made to vanish in time; one that cannot be read is as good. */
  @Test
  void aDescriptorThatCannotBeReadHidesNoOther(@TempDir Path process) throws IOException {
    Path descriptors = Files.createDirectory(process.resolve("fd"));
    for (int i = 0; i < 20; i++) {
      Files.createFile(descriptors.resolve("gone" + i));
    }
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        var own = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path each : own) {
        try {
          Path target = Files.readSymbolicLink(each);
          Files.createSymbolicLink(descriptors.resolve(each.getFileName()), target);
        } catch (NoSuchFileException closed) {
          // Not the server's.
        }
      }
      assertTrue(new NodeProcess(process).ports().contains(server.getLocalPort()));
    }
  }
}
