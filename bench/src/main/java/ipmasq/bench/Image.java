package ipmasq.bench;

/** What a node fetches before the agent runs, and what it consists of; asked of the built image. */
final class Image implements Section {
  private String table = "";

  @Override
  public void measure() {
    Progress.say("the image");
    table = Machine.output("container/size");
  }

  @Override
  public void write(Report report) {
    if (!table.startsWith("|")) {
      report.gap("the image: `make container`, or `make all-container`, must have built it before");
      return;
    }
    report.section(
        "The image",
        "What `container/size` says of the image that was built last: as it is, and compressed as a"
            + " node fetches it. Each part is compressed by itself here, so that they add up to"
            + " about the whole.");
    report.text(table);
  }
}
