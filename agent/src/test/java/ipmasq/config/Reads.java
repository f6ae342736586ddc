package ipmasq.config;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/** Writes a config file and reads it, so that a test is a text and what comes of it. */
record Reads(Path directory) {
  Reading reading(byte[] bytes, FlagDefaults base) {
    try {
      return ConfigReader.read(Files.write(directory.resolve("f"), bytes), base);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Reading reading(String text) {
    return reading(text.getBytes(StandardCharsets.UTF_8), FlagDefaults.none());
  }

  /** The config of a file without errors. */
  Config config(String text) {
    return assertInstanceOf(Reading.Read.class, reading(text)).config();
  }

  /** The warnings of a file without errors, a line each, the path cut to {@code f}. */
  String warnings(String text) {
    return lines(assertInstanceOf(Reading.Read.class, reading(text)).warnings());
  }

  /** The problems of a file with errors. */
  String problems(String text) {
    return problems(text.getBytes(StandardCharsets.UTF_8));
  }

  String problems(byte[] bytes) {
    Reading reading = reading(bytes, FlagDefaults.none());
    return lines(assertInstanceOf(Reading.Rejected.class, reading).problems());
  }

  String lines(List<Problem> problems) {
    return problems.stream()
        .map(problem -> problem.toString().replace(directory + "/", ""))
        .collect(Collectors.joining("\n"));
  }
}
