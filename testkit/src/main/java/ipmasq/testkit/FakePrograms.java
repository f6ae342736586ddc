package ipmasq.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A directory to be an agent's whole {@code PATH}, in which the programs of iptables keep a log of
 * their invocations and misbehave as told, at any time. Without being told they do what they always
 * do. Used by one thread.
 */
public final class FakePrograms implements AutoCloseable {
  /** What a program does when it is run. */
  public sealed interface Behaviour {
    /** What the real one does. */
    record Real() implements Behaviour {}

    /** The same, after a while. */
    record Slow(Duration delay) implements Behaviour {}

    /** Nothing, with an exit code and words on stderr. */
    record Fail(int exit, String stderr) implements Behaviour {}

    /** What the real one does, and then it says that it failed. */
    record FailAfter(int exit, String stderr) implements Behaviour {}

    /** Nothing, but it prints this on stdout and succeeds. */
    record Print(String stdout) implements Behaviour {}

    /** What the real one does, but only the first bytes of its output come out. */
    record Cut(int bytes) implements Behaviour {}

    /** Prints this again and again, and never ends. */
    record Babble(String stdout) implements Behaviour {}

    /** Never ends, whatever SIGTERM says. */
    record Hang() implements Behaviour {}

    /** Never ends, and killing it leaves a child behind that keeps its output open. */
    record HangWithChild() implements Behaviour {}
  }

  /** One run of a program. */
  public record Invocation(String program, List<String> arguments) {}

  private static final List<String> FAMILY =
      Stream.of("iptables", "ip6tables")
          .flatMap(base -> Stream.of(base, base + "-nft", base + "-legacy"))
          .flatMap(base -> Stream.of(base, base + "-save", base + "-restore"))
          .toList();

  /** What launchers are made of. */
  private static final List<String> BESIDES = List.of("readlink", "dirname", "sh", "cat");

  // One write each, so that invocations at the same time do not mix in the log.
  private static final String SEPARATOR = "\u001f"; // between the words of an invocation
  private static final String END = "\u001e";

  private final Path directory = Trees.temporary("programs");
  private final Path log = directory.resolve(".log");

  /** All of iptables that this machine has. */
  public FakePrograms() {
    for (String name : FAMILY) {
      if (real(name).isPresent()) {
        set(name, new Behaviour.Real());
      }
    }
    BESIDES.forEach(name -> real(name).ifPresent(program -> link(name, program)));
  }

  /** What {@code PATH} must be. */
  public String path() {
    return directory.toString();
  }

  /** From now on the program does this. */
  public void set(String program, Behaviour behaviour) {
    String script =
        """
        #!/bin/sh
        IFS='%s'
        printf '%%s' "%s%s$*%s" >> %s
        unset IFS
        %s
        """
            .formatted(SEPARATOR, program, SEPARATOR, END, log, body(program, behaviour));
    try {
      Path beside = Files.writeString(directory.resolve("." + program + ".new"), script);
      Files.setPosixFilePermissions(beside, PosixFilePermissions.fromString("rwxr-xr-x"));
      Files.move(beside, directory.resolve(program), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String body(String program, Behaviour behaviour) {
    String sleep = must("sleep");
    return switch (behaviour) {
      case Behaviour.Real() -> "exec " + must(program) + " \"$@\"";
      case Behaviour.Slow(Duration delay) ->
          sleep + " " + delay.toMillis() / 1000.0 + "\nexec " + must(program) + " \"$@\"";
      case Behaviour.Fail(int exit, String stderr) -> complain(exit, stderr);
      case Behaviour.FailAfter(int exit, String stderr) ->
          must(program) + " \"$@\"\n" + complain(exit, stderr);
      case Behaviour.Print(String stdout) -> "printf %s " + quoted(stdout);
      case Behaviour.Cut(int bytes) -> must(program) + " \"$@\" | " + must("head") + " -c " + bytes;
      case Behaviour.Babble(String stdout) ->
          "trap '' PIPE\nwhile :; do printf %s " + quoted(stdout.repeat(500)) + "; done";
      case Behaviour.Hang() -> "trap '' TERM\nexec " + sleep + " 600";
      case Behaviour.HangWithChild() -> "trap '' TERM\n" + sleep + " 600 &\nwait";
    };
  }

  private static String complain(int exit, String stderr) {
    return "printf '%s\\n' " + quoted(stderr) + " >&2\nexit " + exit;
  }

  private static String quoted(String text) {
    return "'" + text.replace("'", "'\\''") + "'";
  }

  /** From now on there is no such program. */
  public void remove(String program) {
    try {
      Files.deleteIfExists(directory.resolve(program));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** From now on there is no iptables of any kind. */
  public void removeAll() {
    FAMILY.forEach(this::remove);
  }

  /** What was run so far, in order. */
  public List<Invocation> invocations() {
    if (!Files.exists(log)) {
      return List.of();
    }
    try {
      String written = Files.readString(log);
      int complete = written.lastIndexOf(END) + 1;
      return Arrays.stream(written.substring(0, complete).split(END))
          .filter(record -> !record.isEmpty())
          .map(record -> List.of(record.split(SEPARATOR)))
          .map(words -> new Invocation(words.getFirst(), words.subList(1, words.size())))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** How often a program was run so far. */
  public long runs(String program) {
    return invocations().stream().filter(run -> run.program().equals(program)).count();
  }

  private void link(String name, Path program) {
    try {
      Files.createSymbolicLink(directory.resolve(name), program);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String must(String name) {
    return real(name)
        .orElseThrow(() -> new IllegalStateException("this machine has no " + name))
        .toString();
  }

  private static Optional<Path> real(String name) {
    return Stream.of("/usr/sbin", "/sbin", "/usr/bin", "/bin")
        .map(directory -> Path.of(directory, name))
        .filter(Files::isExecutable)
        .findFirst();
  }

  @Override
  public void close() {
    Trees.delete(directory);
  }
}
