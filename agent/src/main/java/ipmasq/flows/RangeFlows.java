package ipmasq.flows;

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
public record RangeFlows(Family family, Optional<Cidr> range, int flows, int wrong) {
  RangeFlows and(boolean against) {
    return new RangeFlows(family, range, flows + 1, wrong + (against ? 1 : 0));
  }
}
