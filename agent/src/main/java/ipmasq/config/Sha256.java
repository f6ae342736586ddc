package ipmasq.config;

/**
 * SHA-256 (FIPS 180-4). The JDK's own would load its security providers for it, which at start-up
 * costs more than everything else that is done with the file.
 */
final class Sha256 {
  private static final int[] K = new int[64];
  private static final int[] INITIAL = new int[8];

  static {
    // The first 32 bits of the fractional parts of the cube and square roots of the first primes.
    int found = 0;
    for (int n = 2; found < 64; n++) {
      if (isPrime(n)) {
        K[found] = fraction(Math.cbrt(n));
        if (found < 8) {
          INITIAL[found] = fraction(Math.sqrt(n));
        }
        found++;
      }
    }
  }

  private final int[] state = INITIAL.clone();
  private final int[] w = new int[64];

  private Sha256() {}

  private static boolean isPrime(int n) {
    for (int d = 2; d * d <= n; d++) {
      if (n % d == 0) {
        return false;
      }
    }
    return true;
  }

  private static int fraction(double root) {
    return (int) (long) ((root - Math.floor(root)) * 0x1p32);
  }

  /** The first {@code digits} hex digits of the hash. */
  static String hex(byte[] bytes, int digits) {
    Sha256 sha = new Sha256();
    int whole = bytes.length / 64 * 64;
    for (int at = 0; at < whole; at += 64) {
      sha.block(bytes, at);
    }
    // What is left, one bit set, zeros, and the length in bits as the last eight bytes.
    byte[] tail = new byte[bytes.length - whole < 56 ? 64 : 128];
    System.arraycopy(bytes, whole, tail, 0, bytes.length - whole);
    tail[bytes.length - whole] = (byte) 0x80;
    for (int i = 0; i < 8; i++) {
      tail[tail.length - 1 - i] = (byte) (bytes.length * 8L >>> 8 * i);
    }
    for (int at = 0; at < tail.length; at += 64) {
      sha.block(tail, at);
    }
    StringBuilder hex = new StringBuilder(digits);
    for (int i = 0; i < digits; i++) {
      hex.append(Character.forDigit(sha.state[i / 8] >>> 28 - i % 8 * 4 & 15, 16));
    }
    return hex.toString();
  }

  private void block(byte[] bytes, int at) {
    for (int i = 0; i < 16; i++) {
      int b = at + 4 * i;
      w[i] =
          bytes[b] << 24
              | (bytes[b + 1] & 255) << 16
              | (bytes[b + 2] & 255) << 8
              | bytes[b + 3] & 255;
    }
    for (int i = 16; i < 64; i++) {
      int x = w[i - 15];
      int y = w[i - 2];
      int s0 = Integer.rotateRight(x, 7) ^ Integer.rotateRight(x, 18) ^ x >>> 3;
      int s1 = Integer.rotateRight(y, 17) ^ Integer.rotateRight(y, 19) ^ y >>> 10;
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    int[] v = state.clone();
    for (int i = 0; i < 64; i++) {
      int e = v[4];
      int a = v[0];
      int s1 = Integer.rotateRight(e, 6) ^ Integer.rotateRight(e, 11) ^ Integer.rotateRight(e, 25);
      int t1 = v[7] + s1 + (e & v[5] ^ ~e & v[6]) + K[i] + w[i];
      int s0 = Integer.rotateRight(a, 2) ^ Integer.rotateRight(a, 13) ^ Integer.rotateRight(a, 22);
      int t2 = s0 + (a & v[1] ^ a & v[2] ^ v[1] & v[2]);
      System.arraycopy(v, 0, v, 1, 7);
      v[4] += t1;
      v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) {
      state[i] += v[i];
    }
  }
}
