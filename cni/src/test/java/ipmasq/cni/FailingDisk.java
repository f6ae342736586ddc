package ipmasq.cni;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.Predicate;

/**
 * The real disk until a given step, which then fails in one of the ways a disk can. What changes
 * files is counted; looking is not. What is forced is remembered, not forced.
 */
final class FailingDisk implements Disk {
  /** What happens at the step. */
  enum Way {
    /** The step is refused; the agent goes on and says so. */
    REFUSAL,
    /** The agent is killed before the step, or half-way where a step has a half. */
    KILL,
    /** The power goes: as a kill, and files that were not forced lose their end. */
    POWER
  }

  /** Not an IOException: nobody who is dead cleans up. */
  static final class Killed extends Error {
    private static final long serialVersionUID = 1L;
  }

  private final Disk disk = new RealDisk();
  private final int fatal;
  private final Way way;
  private final Random random;
  private final Map<Path, byte[]> unforced = new HashMap<>();
  private int step;
  private boolean failed;

  FailingDisk(int fatal, Way way, Random random) {
    this.fatal = fatal;
    this.way = way;
    this.random = random;
  }

  /** One that never fails, and is fast: nothing is really forced to the medium. */
  static Disk never() {
    return new FailingDisk(-1, Way.REFUSAL, new Random(0));
  }

  /** Whether the step came at all. */
  boolean failed() {
    return failed;
  }

  private interface Half {
    void run() throws IOException;
  }

  private void step(Half half) throws IOException {
    if (failed && way == Way.REFUSAL) {
      return; // one failure is enough: the cleaning up works
    }
    if (step++ != fatal) {
      return;
    }
    failed = true;
    if (way == Way.REFUSAL) {
      throw new IOException("no");
    }
    half.run();
    if (way == Way.POWER) {
      for (Map.Entry<Path, byte[]> file : unforced.entrySet()) {
        if (Files.exists(file.getKey())) {
          byte[] bytes = file.getValue();
          Files.write(file.getKey(), Arrays.copyOf(bytes, random.nextInt(bytes.length + 1)));
        }
      }
    }
    throw new Killed();
  }

  @Override
  public Optional<byte[]> read(Path file) throws IOException {
    return disk.read(file);
  }

  @Override
  public Optional<List<Path>> list(Path directory, Predicate<String> wanted, int most)
      throws IOException {
    return disk.list(directory, wanted, most);
  }

  @Override
  public Optional<Stamp> stamp(Path file) throws IOException {
    return disk.stamp(file);
  }

  @Override
  public Path real(Path path) throws IOException {
    return disk.real(path);
  }

  @Override
  public void create(Path file, byte[] bytes) throws IOException {
    step(() -> disk.create(file, Arrays.copyOf(bytes, random.nextInt(bytes.length + 1))));
    disk.create(file, bytes);
    unforced.put(file, bytes);
  }

  @Override
  public void copyPermissions(Path file, Path like) throws IOException {
    step(() -> {});
    disk.copyPermissions(file, like);
  }

  @Override
  public void force(Path file) throws IOException {
    step(() -> {});
    unforced.remove(file);
  }

  @Override
  public void move(Path from, Path to) throws IOException {
    step(() -> {});
    disk.move(from, to);
    if (unforced.containsKey(from)) {
      unforced.put(to, unforced.remove(from));
    }
  }

  @Override
  public void forceDirectory(Path directory) throws IOException {
    step(() -> {});
  }

  @Override
  public void delete(Path file) throws IOException {
    step(() -> {});
    disk.delete(file);
  }
}
