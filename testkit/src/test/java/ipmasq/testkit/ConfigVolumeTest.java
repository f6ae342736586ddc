package ipmasq.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ConfigVolumeTest {
  private final ConfigVolume volume = new ConfigVolume();

  @AfterEach
  void close() {
    volume.close();
    assertFalse(Files.exists(volume.directory()));
  }

  private List<String> names() throws IOException {
    try (Stream<Path> paths = Files.list(volume.directory())) {
      return paths.map(path -> path.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void publishedFilesStandBehindTheDataLink() throws IOException {
    volume.publish("one");
    assertEquals("one", Files.readString(volume.file()));
    assertEquals(Path.of("..data/ip-masq-agent"), Files.readSymbolicLink(volume.file()));
    Object before = Files.getAttribute(volume.file(), "unix:ino");
    volume.publish("two");
    assertEquals("two", Files.readString(volume.file()));
    assertNotEquals(before, Files.getAttribute(volume.file(), "unix:ino"));
    assertEquals(List.of("..2026_01_01_00_00_00.2", "..data", "ip-masq-agent"), names());
  }

  @Test
  void filesComeAndGoWithTheirKeys() throws IOException {
    volume.publish(Map.of("ip-masq-agent", "a", "ip-masq-agent-more", "b"));
    assertEquals("b", Files.readString(volume.directory().resolve("ip-masq-agent-more")));
    volume.publish(Map.of());
    assertEquals(List.of("..2026_01_01_00_00_00.2", "..data"), names());
  }

  @Test
  void plainFilesAreWrittenReplacedAndRemoved() throws IOException {
    volume.remove();
    volume.write("one");
    Object written = Files.getAttribute(volume.file(), "unix:ino");
    volume.write("two");
    assertEquals(written, Files.getAttribute(volume.file(), "unix:ino"));
    volume.replace("three");
    assertNotEquals(written, Files.getAttribute(volume.file(), "unix:ino"));
    assertEquals("three", Files.readString(volume.file()));
    volume.remove();
    assertEquals(List.of(), names());
  }
}
