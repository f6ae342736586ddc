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
      int from = at + 4 * i;
      w[i] =
          bytes[from] << 24
              | (bytes[from + 1] & 255) << 16
              | (bytes[from + 2] & 255) << 8
              | bytes[from + 3] & 255;
    }
    for (int i = 16; i < 64; i++) {
      int x = w[i - 15];
      int y = w[i - 2];
      int s0 = Integer.rotateRight(x, 7) ^ Integer.rotateRight(x, 18) ^ x >>> 3;
      int s1 = Integer.rotateRight(y, 17) ^ Integer.rotateRight(y, 19) ^ y >>> 10;
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    int a = state[0];
    int b = state[1];
    int c = state[2];
    int d = state[3];
    int e = state[4];
    int f = state[5];
    int g = state[6];
    int h = state[7];
    for (int i = 0; i < 64; i++) {
      int s1 = Integer.rotateRight(e, 6) ^ Integer.rotateRight(e, 11) ^ Integer.rotateRight(e, 25);
      int t1 = h + s1 + (e & f ^ ~e & g) + K[i] + w[i];
      int s0 = Integer.rotateRight(a, 2) ^ Integer.rotateRight(a, 13) ^ Integer.rotateRight(a, 22);
      int t2 = s0 + (a & b ^ a & c ^ b & c);
      h = g;
      g = f;
      f = e;
      e = d + t1;
      d = c;
      c = b;
      b = a;
      a = t1 + t2;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
  }
}
