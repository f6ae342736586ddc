package ipmasq.evidence.neighbours;

import ipmasq.net.Cidr;
import ipmasq.net.Family;
import ipmasq.net.ForeignText;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Another program's rule that overrides the config, or many of them that do so in the same way.
 *
 * @param rule an example, as its tool prints it
 * @param where the base chain that it runs in
 * @param packets which packets it affects
 * @param ranges some of the exempt ranges that it affects; empty if it does not affect ranges
 * @param rules how many rules of this owner do the same
 */
public record Conflict(
    Family family,
    Kind kind,
    Owner owner,
    ForeignText rule,
    ForeignText where,
    String packets,
    List<Cidr> ranges,
    int rules) {

  /** What it does. */
  public enum Kind {
    /** It masquerades what the config exempts. */
    MASQUERADES("masquerades"),
    /** It does so for traffic of its own networks, which is usually not pod traffic. */
    ELSEWHERE("masquerades-own"),
    /** It may masquerade it: it has matches that this agent cannot judge. */
    UNCLEAR("unclear"),
    /** It keeps packets that should be masqueraded from reaching our rules. */
    SHIELDS("shields"),
    /** It binds packets that should be masqueraded to their own source. */
    KEEPS("keeps"),
    /** It may do one of the previous two. */
    UNCLEAR_SHIELD("unclear-shields"),
    /** It drops packets. */
    DROPS("drops"),
    /** It translates before us, so that ports or addresses of the config do not apply. */
    PRECEDES("precedes");

    private final String word;

    Kind(String word) {
      this.word = word;
    }

    /** As in metrics and JSON. */
    public String word() {
      return word;
    }

    /** Whether the rules alone do not tell what it does. */
    public boolean unclear() {
      return this == UNCLEAR || this == UNCLEAR_SHIELD;
    }

    /** Whether an operator should act. */
    public boolean serious() {
      return this == MASQUERADES
          || this == SHIELDS
          || this == KEEPS
          || this == DROPS
          || this == PRECEDES;
    }
  }

  public Conflict {
    ranges = List.copyOf(ranges);
  }

  /** Whether it is the same across looks: of many rules, the example may be another. */
  public boolean isSame(Conflict other) {
    return isLike(other)
        && isMany() == other.isMany()
        && (isMany() || where.equals(other.where) && rule.equals(other.rule));
  }

  /** Whether the other does the same and is of the same owner. */
  public boolean isLike(Conflict other) {
    return family == other.family && kind == other.kind && owner == other.owner;
  }

  /** Whether it stands for many rules. */
  public boolean isMany() {
    return rules > 1;
  }

  /** What it does, as a sentence without a full stop. */
  public String sentence() {
    String who = "a rule of " + owner.title();
    return switch (kind) {
      case MASQUERADES, ELSEWHERE ->
          who + " masquerades " + packets + " that the config exempts" + to();
      case UNCLEAR ->
          who
              + " may masquerade "
              + packets
              + " that the config exempts"
              + to()
              + "; whether it does cannot be told from here";
      case SHIELDS ->
          who + " keeps " + packets + " from our rules, so they are not masqueraded" + to();
      case KEEPS ->
          who + " binds " + packets + " to their own source, so they are not masqueraded" + to();
      case UNCLEAR_SHIELD ->
          who
              + " may keep "
              + packets
              + " from being masqueraded; whether it does cannot be told from here";
      case DROPS -> who + " drops " + packets + to();
      case PRECEDES ->
          who
              + " translates "
              + packets
              + " before us, so the config's ports or addresses do not"
              + " apply to them";
    };
  }

  /** What to do about it. */
  public String advice() {
    return switch (kind) {
      case MASQUERADES, ELSEWHERE, UNCLEAR, PRECEDES -> owner.advice();
      case SHIELDS, UNCLEAR_SHIELD ->
          "have it use RETURN in a chain of its own instead of ending POSTROUTING, or set backend:"
              + " nftables, whose chain runs whatever other rules accept";
      case DROPS ->
          "find out who drops packets in a nat chain: rules that filter belong in another chain";
      case KEEPS ->
          "have its owner leave out the destinations that are to be masqueraded: the first rule"
              + " that binds a connection wins";
    };
  }

  /** For scripts: name and value of each part, in order. */
  public Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("family", family);
    fields.put("kind", kind.word());
    fields.put("severity", kind.serious() ? "warning" : "note");
    fields.put("owner", owner.title());
    fields.put("where", where.text());
    fields.put("rule", rule.text());
    fields.put("rules", rules);
    fields.put("packets", packets);
    fields.put("ranges", ranges);
    fields.put("message", sentence());
    fields.put("advice", advice());
    return fields;
  }

  private String to() {
    if (ranges.isEmpty()) {
      return "";
    }
    StringBuilder text = new StringBuilder(" (to ");
    for (int i = 0; i < Math.min(3, ranges.size()); i++) {
      text.append(i == 0 ? "" : ", ").append(ranges.get(i));
    }
    return text.append(ranges.size() > 3 ? " and more)" : ")").toString();
  }

  /** What it does, and the rule. */
  public String line() {
    return family
        + ": "
        + sentence()
        + ": "
        + where
        + ": "
        + rule
        + (rules > 1 ? " (and " + (rules - 1) + " more like it)" : "");
  }

  @Override
  public String toString() {
    return line() + "; " + advice();
  }
}
