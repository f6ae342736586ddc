/** A step of the build, between the compiler and jlink. */
module ipmasq.link {
  requires static org.jspecify;
}
