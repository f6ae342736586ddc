package ipmasq.evidence.flows;

import java.time.Instant;
import java.util.List;

/**
 * The evidence of flows that began within one short period.
 *
 * @param flows how many could be judged
 * @param wrong how many of them went against the config
 * @param lost whether the kernel dropped some before they were read
 * @param ranges how they went by destination, the busiest
 * @param examples some of those that went against the config
 */
public record FlowSample(
    Instant at,
    int flows,
    int wrong,
    boolean lost,
    List<AnsweredRange> ranges,
    List<SampledFlow> examples) {
  public FlowSample {
    ranges = List.copyOf(ranges);
    examples = List.copyOf(examples);
  }
}
