package ipmasq.status;

import ipmasq.net.Ip;
import ipmasq.policy.Packet;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.Optional;

/** What happens to a packet to …? */
final class Question {
  private Question() {}

  static Map<String, Object> answer(View view, Ip to, Optional<Ip> from) {
    Explanation explanation =
        view.status().families().containsKey(to.family())
            ? Explanation.of(
                view.policy(to.family())
                    .verdictFor(new Packet(from.orElse(null), to, isLocal(to), null)))
            : Explanation.absent(to.family().toString());
    return StatusJson.pairs(
        "to",
        to,
        "from",
        from.orElse(null),
        "verdict",
        explanation.word(),
        "translated",
        explanation.translated(),
        "range",
        explanation.range().orElse(null),
        "sentence",
        sentence(explanation),
        "because",
        explanation.because());
  }

  /** What follows {@code A packet to X}. */
  private static String sentence(Explanation explanation) {
    return switch (explanation.word()) {
      case "exempt" -> "keeps its source address";
      case "masquerade" -> "is masqueraded";
      case "snat" -> "gets outputAddress as its source";
      case "local" -> "stays on the node";
      default -> "is left alone";
    };
  }

  /** Whether it is an address of this node. */
  static boolean isLocal(Ip ip) {
    try {
      InetAddress address = InetAddress.getByAddress(ip.bytes());
      return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
    } catch (UnknownHostException | SocketException unknown) {
      return false;
    }
  }
}
