package ipmasq.http;

import java.util.function.Consumer;

/**
 * Answers requests. Called by several threads at once, and must not wait: there are few of them.
 * Slow work goes to another thread, which answers later and may ask {@link Request#cancelled}
 * first.
 */
@FunctionalInterface
public interface Handler {
  /**
   * @param answer to be called once, from any thread
   */
  void handle(Request request, Consumer<Response> answer);
}
