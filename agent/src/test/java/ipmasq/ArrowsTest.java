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
          Map.entry("netlink.xtables", Set.of("netlink")),
          Map.entry("net", Set.of()),
          Map.entry("json", Set.of()),
          Map.entry("log", Set.of("json")),
          Map.entry("http", Set.of("net")),
          Map.entry("hook", Set.of("net", "policy")),
          Map.entry("config", Set.of("net", "json", "policy")),
          Map.entry(
              "flows", Set.of("net", "policy", "netlink", "netlink.conntrack", "netlink.route")),
          Map.entry("policy", Set.of("net")),
          Map.entry("plan", Set.of("net", "policy")),
          Map.entry("backend", Set.of("net", "policy", "plan")),
          Map.entry("iptables", Set.of("net")),
          Map.entry(
              "backend.iptables",
              Set.of(
                  "net",
                  "policy",
                  "plan",
                  "backend",
                  "iptables",
                  "netlink",
                  "netlink.nftables",
                  "netlink.xtables")),
          Map.entry(
              "backend.nftables",
              Set.of("net", "policy", "plan", "backend", "netlink", "netlink.nftables")),
          Map.entry("hook.ipset", Set.of("net", "hook", "netlink", "netlink.ipset")),
          Map.entry("hook.iptables", Set.of("net", "hook", "hook.ipset", "iptables")),
          Map.entry(
              "hook.nftables",
              Set.of(
                  "net",
                  "hook",
                  "hook.ipset",
                  "backend.nftables",
                  "netlink",
                  "netlink.nftables",
                  "netlink.route")),
          Map.entry(
              "backend.conntrack",
              Set.of("net", "policy", "backend", "netlink", "netlink.conntrack")),
          Map.entry("cni", Set.of("net", "policy", "plan", "backend", "json")),
          Map.entry("loop", Set.of("net", "config", "policy", "plan", "backend", "log")),
          Map.entry(
              "status",
              Set.of(
                  "net",
                  "config",
                  "policy",
                  "plan",
                  "backend",
                  "loop",
                  "json",
                  "log",
                  "http",
                  "hook",
                  "flows",
                  "netlink",
                  "netlink.route")),
          Map.entry(
              "app",
              Set.of(
                  "backend",
                  "backend.conntrack",
                  "backend.iptables",
                  "backend.nftables",
                  "cni",
                  "config",
                  "flows",
                  "hook",
                  "hook.ipset",
                  "hook.iptables",
                  "hook.nftables",
                  "http",
                  "log",
                  "loop",
                  "net",
                  "netlink",
                  "netlink.nftables",
                  "policy",
                  "status")),
          Map.entry(
              "cli",
              Set.of(
                  "app", "backend", "config", "hook", "http", "json", "log", "loop", "net", "plan",
                  "policy", "status")));

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

  /** Also of types that stand in others: a newcomer greps. */
  @Test
  void noTwoTypesOfAModuleShareAName() throws IOException {
    for (String module : MODULES) {
      List<String> names =
          classFiles(module).stream()
              .map(file -> file.getFileName().toString().replaceFirst("\\.class$", ""))
              .map(name -> name.substring(name.lastIndexOf('$') + 1))
              .filter(name -> Character.isUpperCase(name.charAt(0)))
              .sorted()
              .toList();
      Set<String> once = new TreeSet<>();
      assertEquals(List.of(), names.stream().filter(name -> !once.add(name)).toList(), module);
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
