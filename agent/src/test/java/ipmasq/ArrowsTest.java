package ipmasq;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.constantpool.Utf8Entry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Holds the arrows between the product's packages: who may use whom. */
class ArrowsTest {
  private static final Path PROJECT = Path.of(System.getProperty("ipmasq.project"));
  private static final List<String> MODULES = List.of("netlink", "core", "cni", "agent");
  private static final Pattern OURS = Pattern.compile("ipmasq/((?:[a-z]+/)+)[A-Z]");

  /** A package may use itself, the JDK, and what stands here. */
  private static final Map<String, Set<String>> MAY_USE =
      Map.ofEntries(
          Map.entry("netlink", Set.of()),
          Map.entry("netlink.conntrack", Set.of("netlink")),
          Map.entry("netlink.ipset", Set.of("netlink")),
          Map.entry("netlink.nftables", Set.of("netlink")),
          Map.entry("netlink.route", Set.of("netlink")),
          Map.entry("net", Set.of()),
          Map.entry("json", Set.of()),
          Map.entry("log", Set.of("json", "net")),
          Map.entry("thread", Set.of()),
          Map.entry("http", Set.of("net", "thread")),
          Map.entry("evidence", Set.of("thread")),
          Map.entry(
              "evidence.neighbours",
              Set.of(
                  "net",
                  "policy",
                  "evidence.flows",
                  "iptables",
                  "backend.nftables",
                  "netlink",
                  "netlink.ipset",
                  "netlink.nftables",
                  "netlink.route")),
          Map.entry("config", Set.of("net", "json", "policy")),
          Map.entry(
              "evidence.trace",
              Set.of("net", "iptables", "netlink", "netlink.conntrack", "netlink.nftables")),
          Map.entry(
              "evidence.flows",
              Set.of("net", "policy", "netlink", "netlink.conntrack", "netlink.route")),
          Map.entry("policy", Set.of("net")),
          Map.entry("plan", Set.of("net", "policy")),
          Map.entry("backend", Set.of("net", "policy", "plan")),
          Map.entry("iptables", Set.of("net", "thread")),
          Map.entry(
              "backend.iptables",
              Set.of(
                  "net", "policy", "plan", "backend", "iptables", "netlink", "netlink.nftables")),
          Map.entry(
              "backend.nftables",
              Set.of("net", "policy", "plan", "backend", "netlink", "netlink.nftables")),
          Map.entry(
              "backend.conntrack",
              Set.of("net", "policy", "backend", "netlink", "netlink.conntrack")),
          Map.entry("cni", Set.of("net", "policy", "plan", "backend", "json")),
          Map.entry("sync", Set.of("net", "config", "policy", "plan", "backend", "log", "thread")),
          Map.entry(
              "status",
              Set.of(
                  "net",
                  "config",
                  "policy",
                  "plan",
                  "backend",
                  "sync",
                  "json",
                  "log",
                  "http",
                  "evidence.flows",
                  "evidence.neighbours")),
          Map.entry(
              "app",
              Set.of(
                  "backend",
                  "backend.conntrack",
                  "backend.iptables",
                  "backend.nftables",
                  "cni",
                  "config",
                  "evidence",
                  "evidence.flows",
                  "json",
                  "evidence.neighbours",
                  "http",
                  "log",
                  "sync",
                  "net",
                  "iptables",
                  "netlink",
                  "netlink.nftables",
                  "policy",
                  "status")),
          Map.entry(
              "cli",
              Set.of(
                  "app",
                  "backend",
                  "config",
                  "evidence",
                  "evidence.flows",
                  "evidence.neighbours",
                  "evidence.trace",
                  "iptables",
                  "netlink",
                  "http",
                  "json",
                  "log",
                  "sync",
                  "net",
                  "plan",
                  "policy",
                  "status",
                  "thread")));

  @Test
  void packagesUseOnlyWhatTheyMay() throws IOException {
    List<String> wrong = new ArrayList<>();
    for (String module : MODULES) {
      for (Path file : classFiles(module)) {
        String from = packageOf(file);
        for (String to : packagesIn(ClassFile.of().parse(classes(module).resolve(file)))) {
          Set<String> allowed = MAY_USE.getOrDefault(from, Set.of());
          if (!to.equals(from) && !allowed.contains(to)) {
            wrong.add(from + " → " + to + " in " + file.getFileName());
          }
        }
      }
    }
    assertEquals(List.of(), wrong);
  }

  @Test
  void everyPackageIsNamedAboveAndSaysWhatItIs() throws IOException {
    for (String module : MODULES) {
      Set<String> packages =
          classFiles(module).stream()
              .map(ArrowsTest::packageOf)
              .collect(Collectors.toCollection(TreeSet::new));
      Path sources = PROJECT.resolve(module).resolve("src/main/java/ipmasq");
      for (String name : packages) {
        assertTrue(MAY_USE.containsKey(name), name + " has no arrows");
        Path info = sources.resolve(name.replace('.', '/')).resolve("package-info.java");
        assertTrue(Files.exists(info), info + " is missing");
      }
    }
  }

  private static Path classes(String module) {
    return PROJECT.resolve(module).resolve("target/classes");
  }

  /** Relative to the directory of the module's classes. */
  private static List<Path> classFiles(String module) throws IOException {
    Path root = classes(module);
    try (Stream<Path> files = Files.walk(root)) {
      List<Path> classes =
          files
              .filter(f -> f.toString().endsWith(".class"))
              .filter(f -> !f.endsWith("module-info.class"))
              .map(root::relativize)
              .toList();
      assertTrue(classes.size() > 10, "classes are looked for in the wrong place: " + root);
      return classes;
    }
  }

  /** Names of classes and descriptors both stand in the constant pool as text. */
  private static Set<String> packagesIn(ClassModel model) {
    Set<String> packages = new TreeSet<>();
    for (PoolEntry entry : model.constantPool()) {
      if (entry instanceof Utf8Entry text) {
        Matcher names = OURS.matcher(text.stringValue());
        while (names.find()) {
          packages.add(dotted(names.group(1)));
        }
      }
    }
    return packages;
  }

  private static String packageOf(Path file) {
    String path = file.toString();
    Matcher name = OURS.matcher(path);
    assertTrue(name.find() || path.endsWith("package-info.class"), path);
    return path.endsWith("package-info.class")
        ? dotted(path.substring("ipmasq/".length(), path.lastIndexOf('/') + 1))
        : dotted(name.group(1));
  }

  private static String dotted(String path) {
    return path.substring(0, path.length() - 1).replace('/', '.');
  }
}
