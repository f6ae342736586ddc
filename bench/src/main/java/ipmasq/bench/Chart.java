package ipmasq.bench;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A picture of lines on logarithmic axes, as SVG. Used by one thread. */
final class Chart {
  private static final int WIDTH = 860;
  private static final int HEIGHT = 460;
  private static final int LEFT = 70;
  private static final int RIGHT = 260; // for the names of the lines
  private static final int TOP = 40;
  private static final int BOTTOM = 50;

  private record Line(String name, String colour, Map<Integer, Double> points) {}

  private final String across;
  private final String up;
  private final List<Line> lines = new ArrayList<>();

  Chart(String across, String up) {
    this.across = across;
    this.up = up;
  }

  void line(String name, String colour, Map<Integer, Double> points) {
    if (!points.isEmpty()) {
      lines.add(new Line(name, colour, Map.copyOf(points)));
    }
  }

  String svg() {
    Axis x = Axis.of(lines.stream().flatMap(l -> l.points.keySet().stream()).map(Double::valueOf));
    Axis y = Axis.of(lines.stream().flatMap(l -> l.points.values().stream()));
    StringBuilder svg = new StringBuilder();
    svg.append(
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">
        <rect width="100%%" height="100%%" fill="white"/>
        <text x="%d" y="22" font-size="14">%s</text>
        <text x="%d" y="%d" text-anchor="middle">%s</text>
        """
            .formatted(WIDTH, HEIGHT, LEFT, up, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, across));
    for (double tick : x.ticks()) {
      double at = across(x, tick);
      rule(svg, at, TOP, at, HEIGHT - BOTTOM);
      label(svg, at, HEIGHT - BOTTOM + 16, "middle", tick);
    }
    for (double tick : y.ticks()) {
      double at = up(y, tick);
      rule(svg, LEFT, at, WIDTH - RIGHT, at);
      label(svg, LEFT - 8, at + 4, "end", tick);
    }
    double last = Double.NEGATIVE_INFINITY;
    for (Line line : byHeight()) {
      double name = Math.max(draw(svg, line, x, y), last + 15); // names do not overlap
      last = name;
      svg.append(
          "<text x=\"%d\" y=\"%.1f\" fill=\"%s\">%s</text>\n"
              .formatted(WIDTH - RIGHT + 10, name + 4, line.colour, line.name));
    }
    return svg.append("</svg>\n").toString();
  }

  /** The highest end first. */
  private List<Line> byHeight() {
    List<Line> sorted = new ArrayList<>(lines);
    sorted.sort((a, b) -> Double.compare(end(b), end(a)));
    return sorted;
  }

  private static double end(Line line) {
    return Collections.max(line.points.entrySet(), Map.Entry.comparingByKey()).getValue();
  }

  /** Returns how high it ends. */
  private static double draw(StringBuilder svg, Line line, Axis x, Axis y) {
    StringBuilder path = new StringBuilder();
    double height = 0;
    for (var point : new TreeMap<>(line.points).entrySet()) {
      height = up(y, point.getValue());
      double left = across(x, point.getKey());
      path.append(path.isEmpty() ? "M" : "L").append("%.1f %.1f".formatted(left, height));
      svg.append(
          "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n"
              .formatted(left, height, line.colour));
    }
    svg.append(
        "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n"
            .formatted(path, line.colour));
    return height;
  }

  private static void rule(StringBuilder svg, double x1, double y1, double x2, double y2) {
    svg.append("<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"#dddddd\"/>\n".formatted(x1, y1, x2, y2));
  }

  private static void label(StringBuilder svg, double x, double y, String anchor, double value) {
    svg.append(
        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n"
            .formatted(x, y, anchor, Unit.grouped(Math.round(value))));
  }

  private static double across(Axis axis, double value) {
    return LEFT + axis.share(value) * (WIDTH - RIGHT - LEFT);
  }

  private static double up(Axis axis, double value) {
    return HEIGHT - BOTTOM - axis.share(value) * (HEIGHT - BOTTOM - TOP);
  }
}
