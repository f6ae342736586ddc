package ipmasq.cni;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.json.MalformedJson;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PolicyFinderTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "[]|expected an object",
        "{'policies':[{'Type':'OutBoundNAT'}]}|this OutBoundNAT policy has no list: give it"
            + " 'ExceptionList': []",
        "{'policies':[{'Type':'OutBoundNAT','ExceptionList':'10.0.0.0/8'}]}|expected a list of"
            + " ranges for ExceptionList",
        "{'policies':[{'Type':'OutBoundNAT','Exceptions':['10.0.0.0/8']},"
            + "{'Type':'OutBoundNAT','Exceptions':['11.0.0.0/8']}]}"
            + "|a second list for IPv4: the agent keeps one",
      })
  void refuses(String file, String what) {
    byte[] bytes = file.replace('\'', '"').getBytes(UTF_8);
    MalformedJson malformed = assertThrows(MalformedJson.class, () -> PolicyFinder.lists(bytes));
    assertEquals(what.replace('\'', '"'), malformed.what());
  }

  @Test
  void utf16IsNamed() {
    byte[] wide = "ÿþ{\0}\0".getBytes(ISO_8859_1);
    assertEquals(
        "the file is UTF-16, but CNI plugins read UTF-8",
        assertThrows(MalformedJson.class, () -> PolicyFinder.lists(wide)).what());
  }

  /** Whatever the bytes are, the answer is a list or a place in them. */
  @Test
  void damagedFilesAreReadOrRejected() {
    Random random = new Random(9);
    for (String name : Node.CORPUS) {
      byte[] whole = Node.resource(name);
      for (int i = 0; i < 300; i++) {
        byte[] bytes = Arrays.copyOf(whole, random.nextInt(whole.length + 1));
        for (int flips = random.nextInt(4); flips > 0 && bytes.length > 0; flips--) {
          bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
        }
        try {
          PolicyFinder.lists(bytes);
        } catch (MalformedJson e) {
          assertTrue(e.at() <= bytes.length);
        }
      }
    }
  }
}
