package ipmasq.config;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** A snapshot of a file's bytes. Equal if the bytes are. */
public final class FileBytes {
  private final byte[] bytes;
  private @Nullable String hash;

  /** Does not copy the array: the caller must not change it any more. */
  public FileBytes(byte[] bytes) {
    this.bytes = bytes;
  }

  byte[] array() {
    return bytes;
  }

  /** Their SHA-256 in hex, as {@code sha256sum} prints it. Computed when first asked for. */
  public synchronized String hash() {
    String known = hash;
    if (known == null) {
      try {
        known = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException("every JDK has SHA-256", e);
      }
      hash = known;
    }
    return known;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof FileBytes that && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return bytes.length + " bytes";
  }
}
