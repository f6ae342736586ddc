package ipmasq.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ipmasq.net.Cidr;
import ipmasq.policy.Policy.Destination;
import ipmasq.policy.Policy.Treatment;
import java.util.List;
import org.junit.jupiter.api.Test;

class DestinationsTest {
  private static final Destination TEN = new Destination(Cidr.of("10.0.0.0/8"), Treatment.EXEMPT);
  private static final Destination NOT_TEN =
      new Destination(Cidr.of("10.0.0.0/8"), Treatment.TRANSLATE);
  private static final Destination ELEVEN =
      new Destination(Cidr.of("11.0.0.0/8"), Treatment.EXEMPT);

  private static Destinations packed(Destination... destinations) {
    return Destinations.copyOf(List.of(destinations));
  }

  @Test
  void holdsWhatItWasGiven() {
    List<Destination> plain = List.of(ELEVEN, NOT_TEN, TEN);
    assertEquals(plain, Destinations.copyOf(plain));
    assertEquals(plain.hashCode(), Destinations.copyOf(plain).hashCode());
    assertFalse(Destinations.copyOf(plain).allExempt());
    assertTrue(packed(ELEVEN, TEN).allExempt());
    assertEquals(packed(ELEVEN, TEN), Destinations.exempt(packed(ELEVEN, NOT_TEN).ranges()));
    assertNotEquals(packed(TEN), packed(NOT_TEN));
  }

  @Test
  void whatHappensThereIsPartOfBeingTheSame() {
    Destinations before = packed(TEN, ELEVEN, TEN);
    assertEquals(2, before.sameAtStart(packed(TEN, ELEVEN, NOT_TEN)));
    assertEquals(0, before.sameAtEnd(packed(TEN, ELEVEN, NOT_TEN), 2));
    assertEquals(0, before.sameAtStart(packed(NOT_TEN, ELEVEN, TEN)));
    assertEquals(2, before.sameAtEnd(packed(NOT_TEN, ELEVEN, TEN), 0));
  }
}
