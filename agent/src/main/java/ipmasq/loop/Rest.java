package ipmasq.loop;

import java.util.concurrent.locks.LockSupport;

/** How one thread lets time pass until others have something for it. */
public interface Rest {
  /** Lets so many nanoseconds pass, or fewer where somebody calls {@link #end} or has done so. */
  void rest(long nanos);

  /** Ends a rest, or the next one. For any thread. */
  void end();

  /** Java's own way, for the calling thread. */
  static Rest parking() {
    Thread resting = Thread.currentThread();
    return new Rest() {
      @Override
      public void rest(long nanos) {
        LockSupport.parkNanos(this, nanos);
      }

      @Override
      public void end() {
        LockSupport.unpark(resting);
      }
    };
  }
}
