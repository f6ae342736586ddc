package ipmasq.status;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ipmasq.config.Config;
import ipmasq.config.Key;
import ipmasq.evidence.neighbours.Conflict;
import ipmasq.http.Endpoint;
import ipmasq.net.Cidr;
import ipmasq.net.Cidrs;
import ipmasq.net.Family;
import ipmasq.sync.SyncReport.Basis;
import ipmasq.sync.SyncReport.Result;
import ipmasq.sync.Trigger;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
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
    CompletableFuture<InetSocketAddress> address = new CompletableFuture<>();
    endpoint =
        Endpoint.start(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            Endpoint.Limits.USUAL,
            Set.of(),
            new StatusHandler(
                story.tracker,
                story.sampler(),
                _ -> Optional.of(List.of()),
                story::explain,
                story.heartbeat,
                story::now),
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

  private static Conflict everywhere() {
    return HeadlineTest.conflict(
        Conflict.Kind.MASQUERADES,
        cidrs("10.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"));
  }

  private void usual() {
    story.config =
        Config.defaults()
            .with(Key.ENABLE_IPV6, true)
            .with(
                Key.NON_MASQUERADE_CIDRS,
                Cidrs.copyOf(
                    cidrs(
                        "10.0.0.0/8",
                        "172.16.0.0/12",
                        "192.168.0.0/16",
                        "198.51.100.0/24",
                        "fd00::/8",
                        "2001:db8::/32")))
            .with(Key.MASQUERADE_CIDRS, Cidrs.copyOf(cidrs("10.96.0.0/16")));
    story.pass(Trigger.START, Story.changed("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"));
    story.pass(Trigger.RULES, Story.repaired("the jump from POSTROUTING is missing"));
  }

  @Test
  void showsAGoodStateInLightDarkAndOnAPhone() throws Exception {
    usual();
    browser.show(1100, 1500, false);
    browser.open(url);
    browser.await("document.querySelectorAll('#history li').length === 6");
    assertEquals("good", browser.evaluate("document.getElementById('state').className"));
    assertEquals(
        "99%",
        browser.evaluate("document.querySelector('.seg.mixed').style.getPropertyValue('--share')"),
        "10.0.0.0/8 without 10.96.0.0/16");
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
    story.conflict = everywhere();
    browser.show(1100, 1700, false);
    browser.open(url);
    browser.await("document.getElementById('problemlist').innerText.includes('flannel')");
    assertEquals("bad", browser.evaluate("document.getElementById('state').className"));
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

  /** An hour of traffic before an open page: quiet nights, busy days, one burst. */
  private void hourOfTraffic(IntPredicate happened) throws Exception {
    browser.open(url);
    browser.await("seen.last > 0");
    long[] perMinute = {3, 41, 9, 0, 2, 17, 5, 1, 0, 0};
    long[] counted = new long[perMinute.length];
    story.passes(58); // a whole minute, with the two passes before
    for (int minute = 0; minute < 62; minute++) {
      for (int n = 0; n < counted.length; n++) {
        double wave = 1 + Math.sin((minute + 9 * n) / 7.0) * .6;
        counted[n] += Math.round(perMinute[n] * wave) + (n == 5 && minute / 4 == 9 ? 90 : 0);
      }
      story.flowsOf = n -> n < counted.length ? counted[n] : 0;
      story.exempted = Arrays.stream(counted).sum() - counted[1]; // the exception from 10.0.0.0/8
      story.translated += Math.round(60 + 40 * Math.sin(minute / 9.0)) + (minute == 33 ? 180 : 0);
      story.passes(happened.test(minute) ? 59 : 60); // what happens takes a second of the story
      browser.evaluate("follow()");
      browser.await("seen.last === " + story.now().toEpochMilli());
    }
    browser.evaluate("(seen.drawn = 0, follow())");
  }

  @Test
  void plotsTheFlowsThatItSaw() throws Exception {
    usual();
    browser.show(1100, 1500, false);
    hourOfTraffic(_ -> false);
    browser.await("document.querySelectorAll('#flows figure').length === 10");
    String plots = browser.evaluate("document.getElementById('flows').innerText");
    assertTrue(plots.contains("IPv4 masqueraded"), plots);
    assertTrue(plots.contains("peak 220/min"), plots);
    assertTrue(plots.contains("Busiest ranges"), plots);
    String times = browser.evaluate("document.getElementById('flowshead').innerText");
    assertTrue(times.matches("New flows per minute, .*:.* to .*:.*"), times);
    assertEquals(
        "10.96.0.0/16",
        browser.evaluate(
            "document.querySelectorAll('#flows figure')[4].innerText.split('\\n')[0]"));
    browser.screenshot("flows-light");
    browser.show(390, 2300, true);
    browser.screenshot("flows-phone-dark");
    assertEquals(List.of(), browser.complaints());
  }

  @Test
  void theHistoryOfAYoungAgentSaysWhereItBegins() throws Exception {
    usual();
    browser.show(1100, 1500, false);
    browser.open(url);
    browser.await("document.getElementById('older').innerText.includes('begins here')");
    browser.await("document.getElementById('flows').innerText.includes('begins when this page')");
    for (int i = 0; i < 20; i++) {
      story.pass(Trigger.RULES, Story.changed("10.0." + i + ".0/24"));
    }
    browser.await("document.getElementById('older').innerText === 'Show 40 older'");
    browser.evaluate("document.querySelector('#older button').click()");
    browser.await("document.getElementById('older').innerText.includes('begins here')");
    assertEquals("46", browser.evaluate("document.querySelectorAll('#history li').length"));
  }

  @Test
  void controlsAreOfOneHeight() throws Exception {
    usual();
    browser.show(1100, 1500, false);
    browser.open(url);
    browser.await("document.querySelectorAll('#ranges tbody tr').length > 3");
    assertEquals(
        "1",
        browser.evaluate(
            "new Set([...document.querySelectorAll('input, select, form button')]"
                + ".map(e => e.getBoundingClientRect().height)).size"));
  }

  @Test
  void aThousandRangesAreUsableOnAPhone() throws Exception {
    List<Cidr> many = new ArrayList<>();
    for (int i = 0; i < 999; i++) {
      many.add(Cidr.of("10." + i / 250 + "." + i % 250 + ".0/24"));
    }
    many.add(Cidr.of("fd00:1234::/32"));
    story.config =
        Config.defaults()
            .with(Key.ENABLE_IPV6, true)
            .with(Key.NON_MASQUERADE_CIDRS, Cidrs.copyOf(many));

    for (int i = 0; i < 60; i++) {
      String[] changes = new String[30];
      Arrays.setAll(changes, n -> "10.9." + n + ".0/24");
      changes[0] = "the jump from POSTROUTING is missing " + i;
      story.pass(Trigger.RULES, Story.changed(changes));
    }
    browser.show(390, 844, false);
    browser.open(url);
    browser.await(ROWS + ".length === 25");
    int height = Integer.parseInt(browser.evaluate("document.documentElement.scrollHeight"));
    assertTrue(height < 6000, height + " px high");
    assertEquals(
        "true", browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth"));
    browser.screenshot("thousand-phone");
    browser.show(390, 844, true);
    browser.screenshot("thousand-phone-dark");

    // The busiest come first: the story's counters grow along the list.
    assertEquals("10.3.248.0/24", firstRange());
    browser.evaluate("document.querySelector('[data-sort=range]').click()");
    assertEquals("10.0.0.0/24", firstRange());
    browser.evaluate("document.querySelector('[data-sort=range]').click()");
    assertEquals("fe80::/10", firstRange());
    browser.evaluate("document.querySelector('[data-sort=order]').click()");
    assertEquals("169.254.0.0/16", firstRange());
    browser.evaluate("document.getElementById('morerows').click()");
    browser.await(ROWS + ".length === 75");

    // A part of a range, or an address inside one.
    browser.evaluate("document.getElementById('filter').focus()");
    browser.type("10.2.24");
    browser.await("document.getElementById('rowcount').innerText === '11 of 1,002 ranges match'");
    browser.evaluate("document.getElementById('filter').select()");
    browser.type("10.1.7.99");
    browser.await(ROWS + ".length === 1");
    assertEquals("10.1.7.0/24", firstRange());
    browser.evaluate("document.getElementById('filter').select()");
    browser.type("fd00:1234::9");
    browser.await(FIRST + " === 'fd00:1234::/32'");
    browser.evaluate("document.getElementById('filter').select()");
    browser.type("<b>");
    browser.await("document.querySelector('#ranges tbody').innerText.includes('No range matches')");
    assertEquals(List.of(), browser.complaints());
  }

  private static final String ROWS = "document.querySelectorAll('#ranges tbody tr')";
  private static final String FIRST =
      "document.querySelector('#ranges tbody td.mono')?.textContent";

  private String firstRange() throws IOException {
    return browser.evaluate(FIRST);
  }

  private static Map<Family, Result> ipv4(Result result) {
    return Map.of(Family.IPV4, result, Family.IPV6, Story.unchanged());
  }

  /** With -Dipmasq.screenshots=true the picture in the README is taken anew. */
  @Test
  void poseForTheReadme() throws Exception {
    assumeTrue(Boolean.getBoolean("ipmasq.screenshots"), "only with -Dipmasq.screenshots=true");
    usual();
    browser.show(1100, 1000, false);
    hourOfTraffic(
        minute -> {
          switch (minute) {
            case 24 -> story.pass(Trigger.RULES, ipv4(Story.repaired("10.0.0.0/8 is missing")));
            case 47 -> story.pass(Trigger.CONFIG, ipv4(Story.changed("198.51.100.0/24")));
            default -> {}
          }
          return minute == 24 || minute == 47;
        });
    story.pass(Trigger.RESYNC, Story.unchanged()).flows(120, 0);
    browser.await("document.querySelectorAll('#flows figure').length === 10");
    browser.await("document.getElementById('live').innerText.includes('120')");
    Path picture = Path.of(System.getProperty("ipmasq.project"), "docs", "page.png");
    browser.screenshot(picture, "document.getElementById('space').parentNode");
  }

  @Test
  void manyRangesAreGroupedAndCanBeOpened() throws Exception {
    List<Cidr> many = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      many.add(Cidr.of("10." + i + ".0.0/" + (16 + i % 9)));
      many.add(Cidr.of((100 + i / 4) + "." + i + ".1.0/24"));
    }
    story.config = Config.defaults().with(Key.NON_MASQUERADE_CIDRS, Cidrs.copyOf(many));
    story.pass(Trigger.START, Story.unchanged());
    browser.show(1100, 1500, false);
    browser.open(url);
    browser.await("document.querySelectorAll('.seg.mixed').length > 0");
    assertEquals("true", browser.evaluate("document.querySelectorAll('.seg').length <= 11"));
    browser.screenshot("many");
    browser.evaluate("document.querySelector('.seg.mixed').click()");
    browser.await("document.querySelectorAll('.crumbs button').length === 1");
    browser.screenshot("many-opened");
    assertEquals(List.of(), browser.complaints());
  }

  /** A desktop has room for labels; and of the ranges beyond a thousand none is left out. */
  @Test
  void thousandsOfRangesAreAllOnTheMap() throws Exception {
    List<Cidr> many = new ArrayList<>();
    for (int i = 0; i < 3000; i++) {
      many.add(Cidr.of("10." + i / 250 + "." + i % 250 + ".0/25"));
    }
    story.config = Config.defaults().with(Key.NON_MASQUERADE_CIDRS, Cidrs.copyOf(many));
    story.pass(Trigger.START, Story.unchanged());
    browser.show(1100, 1500, false);
    browser.open(url);
    browser.await("document.querySelectorAll('.seg.mixed').length > 0");
    String names =
        browser.evaluate(
            "[...document.querySelectorAll('.seg:not(.masq) .name')]"
                + ".filter(e => e.offsetWidth > 0).map(e => e.textContent).join(' ')");
    assertTrue(names.contains("169.254/16"), names);
    assertTrue(names.matches(".*\\b10\\.\\d+.*"), names);
    assertEquals(
        "0",
        browser.evaluate(
            "[...document.querySelectorAll('.seg:not(.masq) .name')]"
                + ".filter(e => e.offsetWidth === 0).length"),
        names);
    String counts = browser.evaluate("document.getElementById('space').innerText");
    assertTrue(counts.contains(" ranges"), counts);
    browser.screenshot("thousands-map");
    assertEquals(List.of(), browser.complaints());
  }

  @Test
  void theOrderIsWhatAnOnCallEngineerNeedsFirst() throws Exception {
    usual();
    story.quiet = false;
    story.conflict = everywhere();
    browser.show(1100, 2400, false);
    browser.open(url + "?to=10.96.0.10&proto=tcp");
    browser.await("document.getElementById('answer').innerText.includes('is masqueraded')");
    assertEquals("10.96.0.10", browser.evaluate("document.getElementById('to').value"));
    assertEquals(
        "state problems askhead historyhead spacehead flowsbox rangeshead",
        browser.evaluate(
            "[...document.querySelectorAll('main > section')]"
                + ".map(e => e.id || e.getAttribute('aria-labelledby')).join(' ')"));
    browser.await("document.querySelectorAll('.seg.keep.contested').length > 0");
    String map = browser.evaluate("document.getElementById('space').innerText");
    assertTrue(map.contains("what our rules say; what happens may differ"), map);
    browser.evaluate("document.getElementById('to').value = '8.8.8.8'");
    browser.evaluate("document.getElementById('ask').requestSubmit()");
    browser.await("location.search.includes('to=8.8.8.8')");
    browser.screenshot("contested");
    browser.show(390, 3000, true);
    browser.screenshot("contested-phone-dark");
    assertEquals(List.of(), browser.complaints());
  }

  private static final Map<String, String> COLOURS =
      Map.of("good", "rgb(15, 118, 110)", "warn", "rgb(138, 90, 0)", "bad", "rgb(179, 38, 30)");

  /** What an on-call engineer reads first, and its colour; docs/troubleshooting.md has them too. */
  @Test
  void theFiveFirstSentences() throws Exception {
    story.pass(Trigger.START, Story.unchanged());
    browser.show(1100, 900, false);
    browser.open(url);
    says(
        "all-is-well", "good", "IPv4 masquerading is in force, as /etc/config/ip-masq-agent says.");

    story.bad(Basis.LAST_GOOD).pass(Trigger.CONFIG, Story.unchanged());
    says(
        "bad-file",
        "bad",
        "Not ready: the config file is bad, so the last good one stays in force.");

    story.quiet = false;
    story.conflict = everywhere();
    story.good().pass(Trigger.CONFIG, Story.unchanged());
    says(
        "foreign-rule",
        "bad",
        "IPv4 masquerading is set up as /etc/config/ip-masq-agent says, but a rule of flannel"
            + " masquerades packets from 10.244.0.0/16 that the config exempts (to 10.0.0.0/8,"
            + " 169.254.0.0/16, 172.16.0.0/12 and more).");

    story.quiet = true;
    story.fighting = true;
    story.pass(Trigger.RULES, Story.repaired("10.0.0.0/8 is missing"));
    says(
        "fight",
        "warn",
        "IPv4 masquerading is set up as /etc/config/ip-masq-agent says, but another program keeps"
            + " changing the rules; they are repaired, at most two seconds later.");

    endpoint.close();
    says(
        "not-running",
        "bad",
        "The agent does not answer: it may have ended. Whether its rules are still in force cannot"
            + " be told from here.");
    assertEquals("⚠ ip-masq-agent: no answer", browser.evaluate("document.title"));
  }

  /** With -Dipmasq.screenshots=true the pictures in the docs are taken anew. */
  private void says(String name, String level, String sentence) throws Exception {
    browser.await("document.getElementById('sentence').innerText === '" + sentence + "'");
    assertEquals(level, browser.evaluate("document.getElementById('state').className"));
    String colour = "getComputedStyle(document.getElementById('state')).borderLeftColor";
    assertEquals(COLOURS.get(level), browser.evaluate(colour));
    Path docs = Path.of(System.getProperty("ipmasq.project"), "docs");
    String page = Files.readString(docs.resolve("troubleshooting.md")).replaceAll("\\s+", " ");
    assertTrue(page.contains("“" + sentence + "”"), "troubleshooting.md lacks: " + sentence);
    browser.screenshot("first-" + name);
    if (Boolean.getBoolean("ipmasq.screenshots")) {
      browser.screenshot(
          docs.resolve("states/" + name + ".png"), "document.getElementById('state')");
    }
  }
}
