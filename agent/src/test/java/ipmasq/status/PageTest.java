package ipmasq.status;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ipmasq.config.Config;
import ipmasq.http.Endpoint;
import ipmasq.http.Limits;
import ipmasq.loop.Pass.Basis;
import ipmasq.loop.Trigger;
import ipmasq.net.Cidr;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The page in a real browser, over passes that are made up. */
@Tag("browser")
@Timeout(180)
class PageTest {
  private final Story story = new Story();
  private Endpoint endpoint;
  private Chromium browser;
  private String url;

  @BeforeEach
  void start() throws Exception {
    assumeTrue(Files.isExecutable(Chromium.PROGRAM), "chromium is not installed");
    Meter meter = new Meter(story::look, story::hook, story::now, System::nanoTime);
    CompletableFuture<InetSocketAddress> address = new CompletableFuture<>();
    endpoint =
        Endpoint.start(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            Limits.USUAL,
            new Site(story.chronicle, meter, story.heartbeat, story::now),
            new Endpoint.Listener() {
              @Override
              public void open(InetSocketAddress where) {
                address.complete(where);
              }

              @Override
              public void shut(InetSocketAddress where, String why) {
                address.completeExceptionally(new IOException(why));
              }
            });
    url = "http://127.0.0.1:" + address.get(10, TimeUnit.SECONDS).getPort() + "/";
    browser = new Chromium(ProcessBuilder::new);
  }

  @AfterEach
  void stop() throws IOException {
    if (browser != null) {
      browser.close();
    }
    if (endpoint != null) {
      endpoint.close();
    }
  }

  private static List<Cidr> cidrs(String... texts) {
    return Arrays.stream(texts).map(Cidr::of).toList();
  }

  private void usual() {
    story.config =
        Config.defaults()
            .draft()
            .enableIpv6(true)
            .nonMasqueradeCidrs(
                cidrs(
                    "10.0.0.0/8",
                    "172.16.0.0/12",
                    "192.168.0.0/16",
                    "198.51.100.0/24",
                    "fd00::/8",
                    "2001:db8::/32"))
            .masqueradeCidrs(cidrs("10.96.0.0/16"))
            .config();
    story.pass(Trigger.START, Story.changed("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"));
    story.pass(Trigger.RULES, Story.changed("the jump from POSTROUTING is missing"));
  }

  @Test
  void showsAGoodStateInLightDarkAndOnAPhone() throws Exception {
    usual();
    browser.show(1100, 1500, false);
    browser.open(url);
    browser.await("document.querySelectorAll('#history li').length === 4");
    assertEquals("good", browser.evaluate("document.getElementById('state').className"));
    browser.screenshot("good-light");
    browser.show(1100, 1500, true);
    browser.screenshot("good-dark");
    browser.show(390, 2300, false);
    browser.screenshot("good-phone");
    assertEquals(
        "true",
        browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth"),
        "nothing sticks out at a phone's width");
    assertEquals(List.of(), browser.complaints());
  }

  @Test
  void showsWhatIsWrongAndWhereWithoutAReload() throws Exception {
    usual();
    browser.show(1100, 1500, false);
    browser.open(url);
    browser.await("document.getElementById('state').className === 'good'");
    browser.evaluate("window.sameDocument = true");
    story.bad(Basis.LAST_GOOD).pass(Trigger.CONFIG, Story.failed());
    browser.await("document.getElementById('state').className === 'bad'");
    String problems = browser.evaluate("document.getElementById('problemlist').innerText");
    assertTrue(problems.contains("/etc/config/ip-masq-agent:3:5"), problems);
    assertTrue(problems.contains("<b>Resource</b>"), "text from elsewhere stays text: " + problems);
    assertEquals("true", browser.evaluate("window.sameDocument"));
    browser.screenshot("bad-light");
    browser.show(390, 2300, true);
    browser.screenshot("bad-phone-dark");
    assertEquals(List.of(), browser.complaints());
  }

  @Test
  void namesWhoElseDecides() throws Exception {
    usual();
    story.quiet = false;
    browser.show(1100, 1700, false);
    browser.open(url);
    browser.await("document.getElementById('problemlist').innerText.includes('flannel')");
    browser.evaluate("document.getElementById('to').focus()");
    browser.type("172.16.0.9");
    browser.evaluate("document.getElementById('from').value = '10.244.1.2'");
    browser.press("Enter", 13);
    browser.await("document.getElementById('answer').innerText.includes('a rule of flannel')");
    browser.screenshot("conflict");
    assertEquals(List.of(), browser.complaints());
  }

  @Test
  void explainsAPacketByKeyboardAlone() throws Exception {
    usual();
    browser.show(1100, 1500, false);
    browser.open(url);
    browser.await("document.querySelectorAll('.seg').length > 5");
    browser.evaluate("document.getElementById('to').focus()");
    browser.type("10.96.0.10");
    browser.press("Enter", 13);
    browser.await("document.getElementById('answer').innerText.includes('is masqueraded')");
    String answer = browser.evaluate("document.getElementById('answer').innerText");
    assertTrue(answer.contains("10.96.0.0/16 is masqueraded, as an exception"), answer);
    browser.screenshot("explain");
    browser.evaluate("document.getElementById('to').value = '<img src=x>'");
    browser.press("Enter", 13);
    browser.await("document.getElementById('answer').innerText.includes('must be an IP address')");
  }

  @Test
  void manyRangesAreGroupedAndCanBeOpened() throws Exception {
    List<Cidr> many = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      many.add(Cidr.of("10." + i + ".0.0/" + (16 + i % 9)));
      many.add(Cidr.of((100 + i / 4) + "." + i + ".1.0/24"));
    }
    story.config = Config.defaults().draft().nonMasqueradeCidrs(many).config();
    story.pass(Trigger.START, Story.unchanged());
    browser.show(1100, 1500, false);
    browser.open(url);
    browser.await("document.querySelectorAll('.seg.mixed').length > 0");
    assertEquals("true", browser.evaluate("document.querySelectorAll('.seg').length <= 48"));
    browser.screenshot("many");
    browser.evaluate("document.querySelector('.seg.mixed').click()");
    browser.await("document.querySelectorAll('.crumbs button').length === 1");
    browser.screenshot("many-opened");
    assertEquals(List.of(), browser.complaints());
  }

  @Test
  void saysWhenTheAgentIsGone() throws Exception {
    usual();
    browser.show(1100, 1500, false);
    browser.open(url);
    browser.await("document.getElementById('state').className === 'good'");
    endpoint.close();
    browser.await("document.getElementById('sentence').innerText.includes('does not answer')");
  }
}
