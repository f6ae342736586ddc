package ipmasq.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;

class Sha256Test {
  @Test
  void isWhatEveryoneElseComputes() throws NoSuchAlgorithmException {
    Random random = new Random(1);
    for (int length = 0; length < 300; length++) {
      byte[] bytes = new byte[length];
      random.nextBytes(bytes);
      byte[] expected = MessageDigest.getInstance("SHA-256").digest(bytes);
      assertEquals(HexFormat.of().formatHex(expected), Sha256.hex(bytes, 64));
    }
  }
}
