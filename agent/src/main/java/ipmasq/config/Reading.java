package ipmasq.config;

import java.util.List;

public sealed interface Reading {
  record Read(Config config, List<Problem> warnings) implements Reading {}

  record Rejected(List<Problem> problems) implements Reading {}
}
