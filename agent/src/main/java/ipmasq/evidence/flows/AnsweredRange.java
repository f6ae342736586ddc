package ipmasq.evidence.flows;

import ipmasq.evidence.flows.Answers.Share;
import ipmasq.net.Cidr;
import ipmasq.net.Protocols;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How many sampled flows to a range were answered.
 *
 * @param range all addresses of the family for destinations in no range of the config
 * @param translated whether they left with another source
 */
public record AnsweredRange(Cidr range, int protocol, boolean translated, Share share) {
  Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("range", range);
    fields.put("protocol", Protocols.name(protocol));
    fields.put("treatment", translated ? "masqueraded" : "kept");
    fields.putAll(share.fields());
    return fields;
  }

  AnsweredRange with(Share other) {
    return new AnsweredRange(range, protocol, translated, other);
  }
}
