package ipmasq.http;

import java.util.function.Consumer;

/**
 * Answers requests. Called on the server's one thread, so it must not block: slow work goes to
 * another thread, which answers later.
 */
@FunctionalInterface
public interface Handler {
  /**
   * @param answer to be called once, from any thread
   */
  void handle(Request request, Consumer<Response> answer);
}
