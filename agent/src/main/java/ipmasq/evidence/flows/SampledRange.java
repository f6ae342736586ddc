package ipmasq.evidence.flows;

import ipmasq.net.Cidr;
import ipmasq.net.Family;
import java.util.Optional;

/**
 * How the sampled flows to one exempt range went.
 *
 * @param range nothing: flows to destinations in no exempt range
 * @param flows how many were judged
 * @param wrong how many of them went against the config
 */
public record SampledRange(Family family, Optional<Cidr> range, int flows, int wrong) {
  SampledRange and(boolean against) {
    return new SampledRange(family, range, flows + 1, wrong + (against ? 1 : 0));
  }
}
