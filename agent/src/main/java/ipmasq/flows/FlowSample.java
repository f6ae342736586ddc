package ipmasq.flows;

import java.time.Instant;
import java.util.List;

/**
 * The evidence of flows that began within one short period.
 *
 * @param flows how many could be judged
 * @param wrong how many of them went against the config
 * @param lost whether the kernel dropped some before they were read
 * @param examples some of those that went against the config
 */
public record FlowSample(
    Instant at, int flows, int wrong, boolean lost, List<SampledFlow> examples) {
  public FlowSample {
    examples = List.copyOf(examples);
  }
}
