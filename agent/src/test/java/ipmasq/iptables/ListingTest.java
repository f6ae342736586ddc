package ipmasq.iptables;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Lines and words as iptables-save prints them, and as others can make it print them. */
class ListingTest {
  private static List<String> lines(String text, int step) {
    List<String> lines = new ArrayList<>();
    Listing listing = new Listing(lines::add);
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    for (int from = 0; from < bytes.length; from += step) {
      byte[] part = Arrays.copyOfRange(bytes, from, Math.min(from + step, bytes.length));
      listing.accept(part, part.length);
    }
    listing.end();
    return lines;
  }

  @Test
  void aLineEndInQuotesEndsNoLine() {
    String first = "-A X --comment \"one\n-A Y\\\" \\\\\" -j Z";
    for (int step = 1; step < 10; step++) {
      assertEquals(List.of(first, "-A Y", "", "no end"), lines(first + "\n-A Y\n\nno end", step));
    }
    assertEquals(
        List.of("-A", "X", "--comment", "one\n-A Y\" \\", "-j", "Z"), Listing.words(first));
  }

  @Test
  void aQuoteWithinAWordIsAQuote() {
    assertEquals(List.of("-A X -o a\"b -j Y", "-A Z"), lines("-A X -o a\"b -j Y\n-A Z\n", 100));
    assertEquals(List.of("-o", "a\"b", "-j"), Listing.words("-o a\"b -j"));
  }
}
