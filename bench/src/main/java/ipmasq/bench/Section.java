package ipmasq.bench;

/** A subject of the report. */
interface Section {
  void measure();

  void write(Report report);
}
