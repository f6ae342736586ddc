package ipmasq.status;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Debian's Chromium without a window, spoken to over its DevTools protocol: messages that end in a
 * NUL, on its descriptors 3 and 4. So it may run in another network namespace than the test.
 */
final class Chromium implements AutoCloseable {
  static final Path PROGRAM = Path.of("/usr/bin/chromium");
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  private final Process process;
  private final Path profile;
  private final Map<Integer, BlockingQueue<String>> answers = new ConcurrentHashMap<>();
  private final List<String> complaints = new ArrayList<>();
  private String session = "";
  private int lastId;

  /**
   * @param launcher how to start a command where the browser shall run
   */
  Chromium(Function<List<String>, ProcessBuilder> launcher) throws IOException {
    profile = Files.createTempDirectory("ipmq-chromium");
    String command =
        String.join(
            " ",
            "exec",
            PROGRAM.toString(),
            "--headless=new --no-sandbox --disable-gpu --remote-debugging-pipe --no-first-run",
            "--disable-background-networking --disable-component-update --disable-sync",
            "--disable-dev-shm-usage --hide-scrollbars --force-color-profile=srgb",
            "--user-data-dir=" + profile,
            "about:blank 3<&0 4>&1 >/dev/null");
    process =
        launcher
            .apply(List.of("sh", "-c", command))
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    Thread.ofPlatform().daemon().name("chromium").start(this::listen);
    String target = field(call("Target.createTarget", "{\"url\":\"about:blank\"}"), "targetId");
    session =
        field(
            call("Target.attachToTarget", "{\"targetId\":\"" + target + "\",\"flatten\":true}"),
            "sessionId");
    call("Page.enable", "{}");
    call("Runtime.enable", "{}");
    call("Log.enable", "{}");
  }

  private void listen() {
    try (InputStream in = new BufferedInputStream(process.getInputStream())) {
      ByteArrayOutputStream message = new ByteArrayOutputStream();
      for (int b = in.read(); b >= 0; b = in.read()) {
        if (b != 0) {
          message.write(b);
          continue;
        }
        take(message.toString(StandardCharsets.UTF_8));
        message.reset();
      }
    } catch (IOException ended) {
      // It was told to.
    }
  }

  private void take(String message) {
    if (message.startsWith("{\"id\":")) {
      int id = Integer.parseInt(message.substring(6, message.indexOf(',')));
      answers.computeIfAbsent(id, _ -> new ArrayBlockingQueue<>(1)).add(message);
    } else if (message.contains("\"Runtime.exceptionThrown\"")
        || message.contains("\"Log.entryAdded\"") && message.contains("\"level\":\"error\"")) {
      synchronized (complaints) {
        complaints.add(message);
      }
    }
  }

  /** What went wrong on the page: exceptions, violations of its own policy. */
  List<String> complaints() {
    synchronized (complaints) {
      return List.copyOf(complaints);
    }
  }

  private String call(String method, String parameters) throws IOException {
    int id = ++lastId;
    BlockingQueue<String> answer = new ArrayBlockingQueue<>(1);
    answers.put(id, answer);
    String to = session.isEmpty() ? "" : ",\"sessionId\":\"" + session + "\"";
    String message =
        "{\"id\":" + id + ",\"method\":\"" + method + "\",\"params\":" + parameters + to + "}\0";
    process.getOutputStream().write(message.getBytes(StandardCharsets.UTF_8));
    process.getOutputStream().flush();
    try {
      String text = answer.poll(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
      if (text == null || text.startsWith("{\"id\":" + id + ",\"error\"")) {
        throw new IOException(method + ": " + text);
      }
      return text;
    } catch (InterruptedException e) {
      throw new IOException(e);
    } finally {
      answers.remove(id);
    }
  }

  /** The text of a field; good for values that need no escapes. */
  private static String field(String json, String name) {
    int start = json.indexOf("\"" + name + "\":\"") + name.length() + 4;
    assertTrue(start > name.length() + 3, () -> name + " is not in " + json);
    return json.substring(start, json.indexOf('"', start));
  }

  void open(String url) throws IOException, InterruptedException {
    call("Page.navigate", "{\"url\":\"" + url + "\"}");
    await("location.href.startsWith('" + url + "') && document.readyState === 'complete'");
  }

  void show(int width, int height, boolean dark) throws IOException {
    call(
        "Emulation.setDeviceMetricsOverride",
        "{\"width\":%d,\"height\":%d,\"deviceScaleFactor\":1,\"mobile\":%s}"
            .formatted(width, height, width < 500));
    call(
        "Emulation.setEmulatedMedia",
        "{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"%s\"}]}"
            .formatted(dark ? "dark" : "light"));
  }

  /** The value of an expression, as text. */
  String evaluate(String expression) throws IOException {
    String wrapped =
        "(async () => { const v = await ("
            + expression
            + ");"
            + " return btoa(unescape(encodeURIComponent(String(v)))); })()";
    String quoted = wrapped.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    String answer =
        call(
            "Runtime.evaluate",
            "{\"awaitPromise\":true,\"returnByValue\":true,\"expression\":\"" + quoted + "\"}");
    if (answer.contains("\"exceptionDetails\"")) {
      throw new IOException(expression + ": " + answer);
    }
    return new String(Base64.getDecoder().decode(field(answer, "value")), StandardCharsets.UTF_8);
  }

  /** Waits until an expression is true. */
  void await(String expression) throws IOException, InterruptedException {
    long end = System.nanoTime() + DEADLINE.toNanos();
    while (!evaluate(expression).equals("true")) {
      if (System.nanoTime() > end) {
        fail("not so in time: " + expression + "\n" + evaluate("document.body?.innerText"));
      }
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }

  /** Presses a key where the focus is. */
  void press(String key, int code) throws IOException {
    String text = key.equals("Enter") ? ",\"text\":\"\\r\"" : "";
    for (String type : List.of("keyDown", "keyUp")) {
      call(
          "Input.dispatchKeyEvent",
          "{\"type\":\"%s\",\"key\":\"%s\",\"windowsVirtualKeyCode\":%d%s}"
              .formatted(type, key, code, type.equals("keyDown") ? text : ""));
    }
  }

  /** Types text where the focus is. */
  void type(String text) throws IOException {
    call("Input.insertText", "{\"text\":\"" + text + "\"}");
  }

  /** The whole page as a picture, below {@code target/screenshots}. */
  void screenshot(String name) throws IOException {
    Path folder = Files.createDirectories(Path.of("target/screenshots"));
    screenshot(folder.resolve(name + ".png"), "document.body");
  }

  /** The page down to the end of an element as a picture. */
  void screenshot(Path file, String last) throws IOException {
    int height =
        Integer.parseInt(
            evaluate("Math.ceil(scrollY + (" + last + ").getBoundingClientRect().bottom) + 8"));
    int width = Integer.parseInt(evaluate("window.innerWidth"));
    String clip = "{\"x\":0,\"y\":0,\"width\":%d,\"height\":%d,\"scale\":1}";
    String answer =
        call(
            "Page.captureScreenshot",
            "{\"captureBeyondViewport\":true,\"clip\":" + clip.formatted(width, height) + "}");
    Files.write(file, Base64.getDecoder().decode(field(answer, "data")));
  }

  @Override
  public void close() throws IOException {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    try {
      process.waitFor(10, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    try (Stream<Path> files = Files.walk(profile)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException stillInUse) {
      // A folder of temporary files that is left behind fails no test.
    }
  }
}
