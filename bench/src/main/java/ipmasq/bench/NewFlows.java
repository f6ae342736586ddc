package ipmasq.bench;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What the first packet of a flow costs, by layout and number of ranges. */
final class NewFlows implements Section {
  /** What was measured: by size, kind of traffic and layout. */
  private final Map<Integer, Map<Traffic, Map<Layout, Samples>>> results = new TreeMap<>();

  private final Scale scale;
  private final Random random = new Random(1);
  private final List<String> impossible = new ArrayList<>();

  NewFlows(Scale scale) {
    this.scale = scale;
  }

  @Override
  public void measure() {
    for (int size : scale.sizes()) {
      Progress.say("flows, " + Unit.grouped(size) + " ranges");
      List<Site> sites = new ArrayList<>();
      try {
        open(new Ranges(size), sites);
        measure(size, sites);
      } finally {
        sites.forEach(Site::close);
      }
    }
  }

  private void open(Ranges ranges, List<Site> sites) {
    for (Layout layout : Layout.values()) {
      try {
        sites.add(Site.open(layout, ranges, random));
      } catch (IllegalStateException e) {
        impossible.add(
            layout.words + " with " + Unit.grouped(ranges.count()) + " ranges: " + e.getMessage());
      }
    }
  }

  private void measure(int size, List<Site> sites) {
    Map<Traffic, Map<Layout, Samples>> bySize = new EnumMap<>(Traffic.class);
    // The first repetitions compile the sender and warm the kernel up.
    int cold = results.isEmpty() ? 5 : 1;
    for (int i = -cold; i < rounds(); i++) {
      for (Traffic traffic : Traffic.values()) {
        List<Site> turns = new ArrayList<>(sites);
        Collections.shuffle(turns, random);
        for (Site site : turns) {
          double cost = site.sender().microseconds(traffic);
          if (i >= 0) {
            bySize
                .computeIfAbsent(traffic, _ -> new EnumMap<>(Layout.class))
                .computeIfAbsent(site.layout(), _ -> new Samples())
                .add(cost);
          }
        }
      }
      sites.forEach(Site::forgetFlows);
    }
    results.put(size, bySize);
  }

  /** A round takes a fraction of a second, and neighbours on the same machine disturb many. */
  private int rounds() {
    return 3 * scale.repetitions();
  }

  private static final Map<Integer, Promise> PROMISES =
      Map.of(
          64, Promise.FLOW_64,
          1_000, Promise.FLOW_1_000,
          10_000, Promise.FLOW_10_000,
          100_000, Promise.FLOW_100_000);

  @Override
  public void write(Report report) {
    results.forEach(
        (size, bySize) -> {
          Map<Layout, Samples> costs = bySize.get(Traffic.UDP_MISS);
          if (costs.containsKey(Layout.UPSTREAM_NFT) && costs.containsKey(Layout.OURS_NFTABLES)) {
            report.measured(
                PROMISES.get(size),
                costs.get(Layout.OURS_NFTABLES).ratioTo(costs.get(Layout.UPSTREAM_NFT)));
          }
        });
    impossible.forEach(report::gap);
    report.section(
        "Cost of a flow",
        """
        CPU time of the sending thread for one packet from a pod through the node to the outside, which drops it; the kernel \
        does all of that in the sender's context. All layouts were measured in turns, in an order shuffled for each \
        repetition. Figures are medians of %d, and in parentheses the medians of the ratios to upstream's iptables-nft \
        rules within each repetition. "No rules" is part of all of them.

        ![Cost of a new flow against the number of ranges](benchmarks.svg)
        """
            .formatted(rounds()));
    report.text(floor());
    report.text("**" + Traffic.UDP_MISS.words + "**");
    report.table(table(Traffic.UDP_MISS));
    report.text("**Ours with nftables, against upstream's iptables-nft rules**");
    report.table(byTraffic());
  }

  /** No layout can be below the one that only masquerades. */
  private String floor() {
    return "The floor is a rule that only masquerades: here "
        + ratios(Traffic.UDP_MISS, Layout.BARE_NFT, Layout.UPSTREAM_NFT)
        + " of upstream's iptables-nft rules. Ours with nftables is at "
        + ratios(Traffic.UDP_MISS, Layout.OURS_NFTABLES, Layout.BARE_NFT)
        + " of that floor.";
  }

  /** How one layout compares with another, for each number of ranges. */
  private String ratios(Traffic traffic, Layout one, Layout other) {
    List<String> words = new ArrayList<>();
    for (var bySize : results.values()) {
      Map<Layout, Samples> costs = bySize.get(traffic);
      words.add(Unit.RATIO.text(costs.get(one).ratioTo(costs.get(other))));
    }
    return String.join(" / ", words);
  }

  private String[] head() {
    List<String> head = new ArrayList<>(List.of("ranges"));
    results.keySet().forEach(size -> head.add(Unit.grouped(size)));
    return head.toArray(String[]::new);
  }

  private List<String[]> byTraffic() {
    List<String[]> rows = new ArrayList<>();
    rows.add(head());
    for (Traffic traffic : Traffic.values()) {
      List<String> row = new ArrayList<>(List.of(traffic.words));
      for (var bySize : results.values()) {
        @Nullable Samples ours = bySize.get(traffic).get(Layout.OURS_NFTABLES);
        @Nullable Samples upstream = bySize.get(traffic).get(Layout.UPSTREAM_NFT);
        row.add(ours == null || upstream == null ? "–" : Unit.RATIO.text(ours.ratioTo(upstream)));
      }
      rows.add(row.toArray(String[]::new));
    }
    return rows;
  }

  private List<String[]> table(Traffic traffic) {
    List<String[]> rows = new ArrayList<>();
    rows.add(head());
    for (Layout layout : Layout.values()) {
      List<String> row = new ArrayList<>(List.of(layout.words));
      for (var bySize : results.values()) {
        Map<Layout, Samples> costs = bySize.get(traffic);
        row.add(cell(costs.get(layout), costs.get(Layout.UPSTREAM_NFT)));
      }
      rows.add(row.toArray(String[]::new));
    }
    return rows;
  }

  private static String cell(@Nullable Samples own, @Nullable Samples upstream) {
    if (own == null) {
      return "–";
    }
    String cost = Unit.MICROSECONDS.text(own.median());
    return upstream == null ? cost : cost + " (" + Unit.RATIO.text(own.ratioTo(upstream)) + ")";
  }

  boolean measured() {
    return !results.isEmpty();
  }

  String picture() {
    Chart chart = new Chart("ranges", "CPU time of a new flow, µs (UDP, destination in no range)");
    for (Layout layout : Layout.values()) {
      Map<Integer, Double> points = new TreeMap<>();
      results.forEach(
          (size, costs) -> {
            Samples samples = costs.get(Traffic.UDP_MISS).get(layout);
            if (samples != null) {
              points.put(size, samples.median());
            }
          });
      chart.line(layout.words, layout.colour, points);
    }
    return chart.svg();
  }
}
