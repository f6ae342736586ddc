package ipmasq.netlink.nftables;

import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.Message;
import java.util.ArrayList;
import java.util.List;

/** Rules of bytes, for targets in other packages. */
public final class Rules {
  private Rules() {}

  public static List<Rule> read(byte[] data) throws MalformedMessage {
    List<Rule> rules = new ArrayList<>();
    for (Message message : Message.in(data, data.length)) {
      rules.add(Rule.read(message));
    }
    return rules;
  }
}
