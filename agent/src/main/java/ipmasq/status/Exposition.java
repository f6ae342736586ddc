package ipmasq.status;

/**
 * Text in Prometheus' exposition format, version 0.0.4, written metric by metric.
 *
 * <pre>
 *   # HELP ip_masq_agent_ready Whether …
 *   # TYPE ip_masq_agent_ready gauge
 *   ip_masq_agent_ready 1
 * </pre>
 */
final class Exposition {
  static final String TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private final StringBuilder text = new StringBuilder(8192);
  private String name = "";

  Exposition gauge(String metric, String help) {
    return metric(metric, "gauge", help);
  }

  Exposition counter(String metric, String help) {
    return metric(metric, "counter", help);
  }

  Exposition histogram(String metric, String help) {
    return metric(metric, "histogram", help);
  }

  private Exposition metric(String metric, String type, String help) {
    name = metric;
    text.append("# HELP ").append(name).append(' ').append(help).append('\n');
    text.append("# TYPE ").append(name).append(' ').append(type).append('\n');
    return this;
  }

  /** A sample; labels alternate names and values. */
  Exposition sample(double value, String... labels) {
    return suffixed("", value, labels);
  }

  Exposition suffixed(String suffix, double value, String... labels) {
    text.append(name).append(suffix);
    for (int i = 0; i < labels.length; i += 2) {
      text.append(i == 0 ? '{' : ',').append(labels[i]).append("=\"");
      escape(labels[i + 1]);
      text.append('"');
    }
    text.append(labels.length == 0 ? " " : "} ");
    number(value);
    text.append('\n');
    return this;
  }

  private void number(double value) {
    if (value == Math.rint(value) && Math.abs(value) < 1e15) {
      text.append((long) value);
    } else {
      text.append(value);
    }
  }

  private void escape(String value) {
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      switch (c) {
        case '\\' -> text.append("\\\\");
        case '"' -> text.append("\\\"");
        case '\n' -> text.append("\\n");
        default -> text.append(c);
      }
    }
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
