package ipmasq.bench;

/** What the pod sends. */
enum Traffic {
  UDP_MISS("UDP, one destination in no range"),
  UDP_HIT("UDP, one destination in the middle range"),
  UDP_RANDOM_MISS("UDP, random destinations in no range"),
  UDP_RANDOM_HIT("UDP, random destinations in random ranges"),
  TCP_MISS("TCP (SYN), one destination in no range"),
  TCP_HIT("TCP (SYN), one destination in the middle range"),
  ESTABLISHED("UDP, further packets of one flow in no range");

  final String words;

  Traffic(String words) {
    this.words = words;
  }
}
