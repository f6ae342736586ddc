package ipmasq.netlink;

/** An error number of Linux; they are the same on every architecture this module runs on. */
public record Errno(int number) {
  public static final Errno NONE = new Errno(0);
  public static final Errno EPERM = new Errno(1);
  public static final Errno ENOENT = new Errno(2);
  public static final Errno EINTR = new Errno(4);
  public static final Errno EAGAIN = new Errno(11);
  public static final Errno ENOMEM = new Errno(12);
  public static final Errno EACCES = new Errno(13);
  public static final Errno EBUSY = new Errno(16);
  public static final Errno EEXIST = new Errno(17);
  public static final Errno EINVAL = new Errno(22);
  public static final Errno EMSGSIZE = new Errno(90);
  public static final Errno EPROTONOSUPPORT = new Errno(93);
  public static final Errno EOPNOTSUPP = new Errno(95);
  public static final Errno ENOBUFS = new Errno(105);
  public static final Errno ECONNREFUSED = new Errno(111);

  /** The error in what a system call returned: zero or minus the number. */
  static Errno of(long result) {
    return result == 0 ? NONE : new Errno((int) -result);
  }

  /** Equality; a record's own takes ten milliseconds on first use. */
  public boolean is(Errno other) {
    return number == other.number;
  }

  /** The system's words and the symbol, as manual pages write it. */
  @Override
  public String toString() {
    String[] known = known().split(" ", 2);
    return (known.length == 2 ? known[1] : "error " + number) + " (" + known[0] + ")";
  }

  private String known() {
    return switch (number) {
      case 0 -> "OK Success";
      case 1 -> "EPERM Operation not permitted";
      case 2 -> "ENOENT No such file or directory";
      case 4 -> "EINTR Interrupted system call";
      case 5 -> "EIO Input/output error";
      case 11 -> "EAGAIN Resource temporarily unavailable";
      case 12 -> "ENOMEM Cannot allocate memory";
      case 13 -> "EACCES Permission denied";
      case 16 -> "EBUSY Device or resource busy";
      case 17 -> "EEXIST File exists";
      case 19 -> "ENODEV No such device";
      case 22 -> "EINVAL Invalid argument";
      case 23 -> "ENFILE Too many open files in system";
      case 24 -> "EMFILE Too many open files";
      case 28 -> "ENOSPC No space left on device";
      case 34 -> "ERANGE Numerical result out of range";
      case 40 -> "ELOOP Too many levels of symbolic links";
      case 75 -> "EOVERFLOW Value too large for defined data type";
      case 90 -> "EMSGSIZE Message too long";
      case 93 -> "EPROTONOSUPPORT Protocol not supported";
      case 95 -> "EOPNOTSUPP Operation not supported";
      case 97 -> "EAFNOSUPPORT Address family not supported by protocol";
      case 105 -> "ENOBUFS No buffer space available";
      case 111 -> "ECONNREFUSED Connection refused";
      default -> "E" + number;
    };
  }
}
