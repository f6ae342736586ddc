package ipmasq.evidence.trace;

import ipmasq.net.ForeignText;
import ipmasq.net.Ip;
import ipmasq.net.Protocols;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A flow, and what rules did to its first packet.
 *
 * @param port where it was sent; 0 for protocols without ports
 * @param leftWith the source that its packets left with; empty: none left, or nothing tracked it
 * @param answered whether anybody answered
 * @param decidedBy the step that decided about its source, or dropped it; empty: no rule did
 */
public record TracedFlow(
    int protocol,
    Ip source,
    Ip destination,
    int port,
    Optional<Ip> leftWith,
    boolean answered,
    Optional<Step> decidedBy,
    List<Step> steps) {
  public TracedFlow {
    steps = List.copyOf(steps);
  }

  /**
   * What one rule did, or a base chain at its end.
   *
   * @param hook {@code postrouting}; empty if it is not known
   * @param table with its family: {@code ip nat}
   * @param handle 0: the end of the chain
   * @param text the rule as the tool that owns it prints it; empty if none is installed
   */
  public record Step(
      String hook,
      boolean nat,
      String table,
      String chain,
      long handle,
      String verdict,
      ForeignText text) {
    /**
     * Whether it gave a flow its source, left it alone, or dropped it.
     *
     * @param leftWith empty: it did not leave
     */
    boolean decides(Optional<Ip> leftWith, Ip source) {
      if (leftWith.isEmpty()) {
        return verdict.equals("drop");
      }
      boolean atNat = nat && hook.equals("postrouting") && handle != 0;
      boolean kept = leftWith.get().equals(source);
      return atNat && (verdict.equals("accept") || kept && verdict.equals("return"));
    }

    Map<String, Object> fields() {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("hook", hook);
      fields.put("table", table);
      fields.put("chain", chain);
      fields.put("handle", handle);
      fields.put("verdict", verdict);
      fields.put("text", text.text());
      return fields;
    }

    /** {@code ip nat POSTROUTING handle 5: -A POSTROUTING -j MASQUERADE}. */
    @Override
    public String toString() {
      return new ForeignText(table + " " + chain)
          + (handle == 0 ? " at its end" : " handle " + handle)
          + (text.text().isEmpty() ? "" : ": " + text);
    }
  }

  public Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("source", source);
    fields.put("destination", destination);
    fields.put("protocol", Protocols.name(protocol));
    fields.put("port", port);
    fields.put("leftWith", leftWith.isPresent() ? leftWith.get() : null);
    fields.put("answered", answered);
    fields.put("decidedBy", decidedBy.isPresent() ? decidedBy.get().fields() : null);
    fields.put("steps", steps.stream().map(Step::fields).toList());
    return fields;
  }

  /** {@code 10.244.1.2 to 203.0.113.5 (tcp 443) left as 192.0.2.10, and was answered}. */
  @Override
  public String toString() {
    return source
        + " to "
        + destination
        + " ("
        + Protocols.name(protocol)
        + (port == 0 ? "" : " " + port)
        + ") "
        + leftWith
            .map(
                ip ->
                    (ip.equals(source) ? "left with its own source" : "left as " + ip)
                        + (answered ? ", and was answered" : ", and nobody answered yet"))
            .orElse("did not leave, or nothing tracked it");
  }
}
