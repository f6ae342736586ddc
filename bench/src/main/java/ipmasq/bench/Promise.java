package ipmasq.bench;

/** What the project promises of its speed and size; each is the most that a figure may be. */
enum Promise {
  START("exec → rules, defaults, alone on the node, median", 200, Unit.MILLISECONDS),
  START_BESIDE_5_000(
      "exec → rules beside 5,000 nat rules of kube-proxy, against alone", 1.6, Unit.RATIO),
  START_BESIDE_50_000(
      "exec → rules beside 50,000 nat rules of kube-proxy, against alone", 1.6, Unit.RATIO),
  CONFIG_IPTABLES("config file → rules, iptables, median", 50, Unit.MILLISECONDS),
  CONFIG_NFTABLES("config file → rules, nftables, median", 20, Unit.MILLISECONDS),
  HEAL("flushed chain → healed, alone on the node, longest", 1_500, Unit.MILLISECONDS),
  HEAL_BESIDE("flushed chain → healed, beside 50,000 rules, longest", 1_500, Unit.MILLISECONDS),
  IDLE_CPU("idle: CPU time in a minute", 100, Unit.MILLISECONDS),
  IDLE_CHILDREN("idle: child processes in a minute", 0, Unit.COUNT),
  IDLE_RSS("idle, with `--listen`: RSS", 55, Unit.MEGABYTES),
  IDLE_ANONYMOUS("idle, with `--listen`: anonymous memory", 25, Unit.MEGABYTES),
  CHANGES_CHILDREN(
      "20 endpoint changes beside 50,000 rules: child processes of the agent", 0, Unit.COUNT),
  CHANGES_CPU(
      "20 endpoint changes beside 50,000 rules: CPU time above idle", 100, Unit.MILLISECONDS),
  LOOK_RULES_CPU(
      "a look for conflicts beside 50,000 rules: CPU time above idle", 100, Unit.MILLISECONDS),
  LOOK_RULES_MEMORY(
      "a look for conflicts beside 50,000 rules: peak of RSS above alone", 5, Unit.MEGABYTES),
  LOOK_SET_CPU(
      "a look for conflicts beside a set of 1,500,000 elements: CPU time above idle",
      100,
      Unit.MILLISECONDS),
  LOOK_SET_MEMORY(
      "a look for conflicts beside a set of 1,500,000 elements: peak of RSS above alone",
      5,
      Unit.MEGABYTES),
  RSS_BESIDE_RULES("RSS beside 50,000 rules, against alone", 1.1, Unit.RATIO),
  RSS_BESIDE_SET("RSS beside a set of 1,500,000 elements, against alone", 1.1, Unit.RATIO),
  FLOW_64("new flow, nftables, 64 ranges, against upstream's rules", 0.92, Unit.RATIO),
  FLOW_1_000("new flow, nftables, 1,000 ranges, against upstream's rules", 0.42, Unit.RATIO),
  FLOW_10_000("new flow, nftables, 10,000 ranges, against upstream's rules", 0.07, Unit.RATIO),
  FLOW_100_000("new flow, nftables, 100,000 ranges, against upstream's rules", 0.012, Unit.RATIO),
  WRONG_PACKETS("packets with a wrong source address in 1,000 updates", 0, Unit.COUNT);

  private final String words;
  private final double limit;
  private final Unit unit;

  Promise(String words, double limit, Unit unit) {
    this.words = words;
    this.limit = limit;
    this.unit = unit;
  }

  boolean metBy(double figure) {
    return figure <= limit;
  }

  /** As a row of the report: what, promised, measured, met. */
  String[] row(double figure) {
    return row(unit.text(figure), metBy(figure) ? "met" : "NOT MET");
  }

  String[] notMeasured() {
    return row("–", "not measured");
  }

  private String[] row(String measured, String met) {
    return new String[] {words, "≤ " + unit.text(limit), measured, met};
  }
}
