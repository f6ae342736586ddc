package ipmasq.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** Wrong command lines: exit code 64, nothing on stdout, and one line that says what to write. */
class WrongUsageTest {
  private static final String LINES =
      """
      pln
      unknown command pln: did you mean plan? (see ip-masq-agent --help)

      plan --proto=tcp
      plan does not take --proto (see ip-masq-agent plan --help)

      check my-config --from=10.0.0.1
      check does not take --from (see ip-masq-agent check --help)

      version foo
      version takes no argument, but was given foo (see ip-masq-agent version --help)

      plan --listen=:9090
      plan does not take --listen (see ip-masq-agent plan --help)

      apply --dry-run
      apply does not take --dry-run: plan shows what apply would change (see ip-masq-agent apply --help)

      cleanup --enable-ipv6
      cleanup does not take --enable-ipv6 (see ip-masq-agent cleanup --help)

      apply --logtostderr
      apply does not take --logtostderr (see ip-masq-agent apply --help)

      plan --backend=iptables --cni-config=/etc/cni/net.d
      --cni-config without effect: the backend is iptables, not cni (see ip-masq-agent plan --help)

      --backend=nftables --cni-config=x --cni-keep-extra
      --cni-config without effect: the backend is nftables, not cni (see ip-masq-agent --help)

      check --config=my-config
      check does not take --config (see ip-masq-agent check --help)

      check
      check needs the file to check: ip-masq-agent check FILE (see ip-masq-agent check --help)

      explain example.com
      "example.com" is not an IP address (see ip-masq-agent explain --help)

      trace
      trace needs one IP address (see ip-masq-agent trace --help)

      trace 8.8.8.8 --from=::1
      both addresses must be of one family (see ip-masq-agent trace --help)

      config --hold
      config does not take --hold (see ip-masq-agent config --help)

      run 8.8.8.8
      run takes no argument, but was given 8.8.8.8 (see ip-masq-agent run --help)

      status --output=xml
      --output is one of text|json, not "xml" (see ip-masq-agent status --help)

      --enable-ipv
      unknown flag --enable-ipv: did you mean --enable-ipv6? (see ip-masq-agent --help)

      help me
      unknown command me (see ip-masq-agent --help)

      nonsense --help
      unknown command nonsense (see ip-masq-agent --help)
      """;

  @Test
  void eachIsOneLine() {
    StringBuilder said = new StringBuilder();
    for (String pair : LINES.split("\n\n")) {
      String words = pair.lines().findFirst().orElseThrow();
      InProcess.Answer answer = InProcess.answer(words.split(" "));
      assertEquals(Main.USAGE, answer.exit(), words);
      assertEquals("", answer.out(), words);
      said.append(said.isEmpty() ? "" : "\n").append(words).append('\n');
      said.append(answer.err().replaceFirst("^ip-masq-agent: ", ""));
    }
    assertEquals(LINES, said.toString());
  }
}
