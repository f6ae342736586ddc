package ipmasq.config;

import java.util.Optional;

/** Reads the value of a key. */
interface Decoder<T> {
  /**
   * Reads exactly one value.
   *
   * @param key its name, for messages
   * @param first the first token of the value
   * @param rest what comes after
   * @return the value; nothing where the file leaves the default in place, or where it is no good
   *     and {@code problems} say why
   */
  Optional<T> decode(String key, Token first, Tokens rest, Problems problems) throws SyntaxError;
}
