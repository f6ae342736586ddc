package ipmasq.cni;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;

/**
 * The real disk until a given step, which then fails in one of the ways a disk can. What changes
 * files is counted; looking is not. What is forced is remembered, not forced.
 */
final class FailingDisk extends Disk {
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
  void create(Path file, byte[] bytes) throws IOException {
    step(() -> super.create(file, Arrays.copyOf(bytes, random.nextInt(bytes.length + 1))));
    super.create(file, bytes);
    unforced.put(file, bytes);
  }

  @Override
  void copyPermissions(Path file, Path like) throws IOException {
    step(() -> {});
    super.copyPermissions(file, like);
  }

  @Override
  void force(Path file) throws IOException {
    step(() -> {});
    unforced.remove(file);
  }

  @Override
  void move(Path from, Path to) throws IOException {
    step(() -> {});
    super.move(from, to);
    if (unforced.containsKey(from)) {
      unforced.put(to, unforced.remove(from));
    }
  }

  @Override
  void forceDirectory(Path directory) throws IOException {
    step(() -> {});
  }

  @Override
  void delete(Path file) throws IOException {
    step(() -> {});
    super.delete(file);
  }
}
