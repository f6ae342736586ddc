package ipmasq.backend.iptables;

import ipmasq.backend.Failure;
import ipmasq.iptables.Commands.CommandResult;
import ipmasq.iptables.Variant;
import ipmasq.net.Family;
import ipmasq.net.ForeignText;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** What went wrong with a program, in its own words, and what an operator can do. */
final class FailureAdvice {
  /** How the JVM reports a program killed by SIGKILL. */
  private static final int KILLED = 128 + 9;

  private static final String INCOMPATIBLE = "is incompatible, use 'nft' tool";

  /** This kernel cannot hold our rules: no nat table, no xt modules, native rules in the table. */
  private static final List<String> LASTING =
      List.of(
          INCOMPATIBLE,
          "missing kernel module",
          "RULE_APPEND failed (No such file or directory)",
          "RULE_APPEND failed (Operation not supported)",
          "CHAIN_ADD failed (No such file or directory)",
          "TABLE_ADD failed (Operation not supported)",
          "Table does not exist");

  /** The rules changed since they were read: what was to be deleted is gone, or in use again. */
  private static final List<String> RACES =
      List.of(
          "does a matching rule exist",
          "No chain/target/match by that name",
          "CHAIN_DEL failed",
          "RULE_DELETE failed",
          "Resource temporarily unavailable",
          "Device or resource busy");

  private static final Pattern LINE_FAILED = Pattern.compile(": line ([1-9]\\d{0,8}) failed");

  private FailureAdvice() {}

  static Failure of(String program, Family family, CommandResult result) {
    return switch (result) {
      case CommandResult.Missing(var searched) ->
          new Failure(
              program + " was not found on PATH (" + searched + ")",
              "install iptables, or have the agent write nftables itself (backend nftables)",
              true);
      case CommandResult.Overran(var deadline, var errors) ->
          new Failure(
              program + " did not end within " + deadline.toSeconds() + " s" + words(errors),
              "look for what blocks it on the node; it was stopped and is tried again");
      case CommandResult.Broken(var why) ->
          new Failure(program + " could not be run: " + why, "check that it is executable");
      case CommandResult.Ended(var status, var errors) ->
          new Failure(
              program + " ended with status " + status + words(errors),
              status == KILLED
                  ? "it was killed; the kernel does that when memory is short: raise the"
                      + " agent's memory limit, or list fewer ranges; it is tried again"
                  : advice(program, errors, family),
              LASTING.stream().anyMatch(errors::contains));
    };
  }

  /** A text that iptables-save should not have printed. */
  static Failure unreadable(String program, Family family, String why) {
    return new Failure(
        "what " + program + " printed cannot be used: " + why,
        why.contains("incompatible")
            ? nativeRules(family)
            : "run it by hand on the node; it is tried again",
        why.contains("incompatible"));
  }

  private static String nativeRules(Family family) {
    String table = table(family);
    return "some program put native rules into table "
        + table
        + ": take them out (nft list table "
        + table
        + " shows them), or set backend: nftables";
  }

  private static String table(Family family) {
    return family == Family.IPV4 ? "ip nat" : "ip6 nat";
  }

  /**
   * About chains by our names that iptables cannot list, and so not remove.
   *
   * @param used whether rules lead to them
   */
  static String removeByHand(Family family, List<String> chains, boolean used) {
    String table = table(family);
    List<String> steps = new ArrayList<>();
    if (used) {
      steps.add("nft -a list chain " + table + " POSTROUTING (shows the jump's handle N)");
      steps.add("nft delete rule " + table + " POSTROUTING handle N");
    }
    chains.forEach(chain -> steps.add("nft flush chain " + table + " " + chain));
    chains.forEach(chain -> steps.add("nft delete chain " + table + " " + chain));
    return (chains.size() == 1 ? "chain " : "chains ")
        + String.join(", ", chains)
        + " in table "
        + table
        + (used ? " (in use)" : " (not in use)")
        + " can neither be listed nor removed by iptables here; unless another agent keeps"
        + (chains.size() == 1 ? " it, remove it by hand: " : " them, remove them by hand: ")
        + String.join("; ", steps);
  }

  /** Programs of both kinds where one kind is used. */
  static Failure mixed(String program, Variant.Kind kind, Variant.Kind used) {
    return new Failure(
        program + " is " + kind + ", but the rules are read by " + used + "; nothing was done",
        "have iptables, iptables-save and iptables-restore lead to one kind (update-alternatives"
            + " --config iptables); it is tried again");
  }

  /** A dormant table. */
  static Failure dormant(Family family) {
    String table = table(family);
    return new Failure(
        "table " + table + " is dormant: none of its rules sees a packet, ours included",
        "find out who put it to sleep; 'nft add table " + table + "' wakes it");
  }

  /** A chain with our name, but none of our rules. */
  static Failure somebodyElses(String chain) {
    return new Failure(
        "chain " + chain + " exists and holds another program's rules; it was left alone",
        "give ours another name (--masq-chain), or remove that one");
  }

  /** Whether a restore failed because the rules changed since they were read. */
  static boolean isRace(CommandResult.Ended ended, String input) {
    String errors = ended.errors();
    return !errors.contains("xtables lock")
        && (RACES.stream().anyMatch(errors::contains)
            || errors.contains("Chain '") && errors.contains("does not exist")
            || legacyRace(errors, input));
  }

  /** Legacy only says {@code line 3 failed}: what that line would have done tells. */
  private static boolean legacyRace(String errors, String input) {
    Matcher found = LINE_FAILED.matcher(errors);
    String failed =
        found.find()
            ? input.lines().skip(Integer.parseInt(found.group(1)) - 1L).findFirst().orElse("")
            : "";
    return failed.startsWith("-D ") || failed.startsWith("-X ") || failed.equals("COMMIT");
  }

  private static String advice(String program, String errors, Family family) {
    if (errors.contains(INCOMPATIBLE)) {
      return nativeRules(family);
    }
    if (errors.contains("xtables lock") || errors.contains("xtables.lock")) {
      return "another program holds /run/xtables.lock, or it cannot be written: mount the host's file;"
          + " it is tried again";
    }
    if (errors.contains("Permission denied") || errors.contains("Operation not permitted")) {
      return program.contains("legacy")
          ? "iptables-legacy needs the capability NET_RAW beside NET_ADMIN, and a writable"
              + " /run/xtables.lock: deploy/overlays/legacy-iptables gives both"
          : "give the agent the capability NET_ADMIN (iptables-legacy also needs NET_RAW and a"
              + " writable /run/xtables.lock)";
    }
    if (errors.contains("Table does not exist")
        || errors.contains("initialize table")
        || errors.contains("initialize ip")
        || errors.contains("not supported")) {
      return switch (family) {
        case IPV4 ->
            "the kernel has no IPv4 nat table: load its modules, and check that the agent"
                + " has NET_ADMIN (and NET_RAW for iptables-legacy)";
        case IPV6 ->
            "the kernel has no IPv6 nat table: load its modules, or turn IPv6 off"
                + " (enable-ipv6=false)";
      };
    }
    return "run it by hand on the node to see more; it is tried again";
  }

  private static String words(String errors) {
    String words =
        errors
            .lines()
            .filter(line -> !line.isBlank())
            .filter(line -> !line.startsWith("Try `") && !line.startsWith("# Warning"))
            .map(line -> new ForeignText(line.strip()).text())
            .collect(Collectors.joining("; "));
    return words.isEmpty() ? "" : ": " + words;
  }
}
