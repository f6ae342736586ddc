package ipmasq.cni;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ipmasq.json.MalformedJson;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class JsonDocumentTest {
  @Test
  void utf16IsNamed() {
    byte[] wide = "ÿþ{\0}\0".getBytes(ISO_8859_1);
    assertEquals(
        "the file is UTF-16, but CNI plugins read UTF-8",
        assertThrows(MalformedJson.class, () -> JsonDocument.read(wide)).what());
  }

  /** Whatever the bytes are, the answer is a document or a place in them. */
  @Test
  void damagedFilesAreReadOrRejected() {
    Random random = new Random(9);
    for (String name : Node.CORPUS) {
      byte[] atomic = Node.resource(name);
      for (int i = 0; i < 300; i++) {
        byte[] bytes = Arrays.copyOf(atomic, random.nextInt(atomic.length + 1));
        for (int flips = random.nextInt(4); flips > 0 && bytes.length > 0; flips--) {
          bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
        }
        try {
          JsonDocument document = JsonDocument.read(bytes);
          assertEquals(true, document.spells(document.with(List.of())));
          PolicyFinder.lists(document);
        } catch (MalformedJson e) {
          JsonDocument.place(bytes, e.at());
        }
      }
    }
  }
}
