package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.Message;
import ipmasq.netlink.MessageWriter;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;

/**
 * A rule: expressions that run in turn, until one does not match or decides.
 *
 * @param comment what people read; may be empty
 * @param handle the kernel's number for it; 0: not read from the kernel
 */
public record Rule(
    TableFamily family,
    String table,
    String chain,
    List<Expression> expressions,
    String comment,
    long handle) {
  private static final int NFTA_RULE_TABLE = 1;
  private static final int NFTA_RULE_CHAIN = 2;
  private static final int NFTA_RULE_HANDLE = 3;
  private static final int NFTA_RULE_EXPRESSIONS = 4;
  private static final int NFTA_RULE_USERDATA = 7;
  private static final int NFTNL_UDATA_RULE_COMMENT = 0;

  public Rule {
    expressions = List.copyOf(expressions);
  }

  public Rule(Chain chain, List<Expression> expressions) {
    this(chain.family(), chain.table(), chain.name(), expressions, "", 0);
  }

  public Rule(Chain chain, Expression... expressions) {
    this(chain, List.of(expressions));
  }

  public Rule commented(String comment) {
    return new Rule(family, table, chain, expressions, comment, handle);
  }

  /** Names the rules of a chain in a request. */
  static void chain(MessageWriter out, String table, String chain) {
    out.string(NFTA_RULE_TABLE, table).string(NFTA_RULE_CHAIN, chain);
  }

  /** Names it by its handle in a request. */
  void name(MessageWriter out) {
    chain(out, table, chain);
    out.u64(NFTA_RULE_HANDLE, handle);
  }

  void write(MessageWriter out) {
    chain(out, table, chain);
    int list = out.nest(NFTA_RULE_EXPRESSIONS);
    for (Expression expression : expressions) {
      Expressions.write(out, Expressions.NFTA_LIST_ELEM, expression);
    }
    out.end(list);
    if (!comment.isEmpty()) {
      out.bytes(NFTA_RULE_USERDATA, Userdata.comment(NFTNL_UDATA_RULE_COMMENT, comment));
    }
  }

  static Rule read(Message message) throws MalformedMessage {
    Attributes attributes = message.attributes();
    List<Expression> expressions = new ArrayList<>();
    for (Attributes expression : attributes.list(NFTA_RULE_EXPRESSIONS)) {
      expressions.add(Expressions.read(expression));
    }
    return new Rule(
        TableFamily.of(message.family()),
        attributes.string(NFTA_RULE_TABLE),
        attributes.string(NFTA_RULE_CHAIN),
        expressions,
        Userdata.comment(attributes, NFTA_RULE_USERDATA, NFTNL_UDATA_RULE_COMMENT),
        attributes.u64(NFTA_RULE_HANDLE, 0));
  }

  /** Adds what the rule says to a digest: its expressions except counters, and its comment. */
  static void digest(Message message, MessageDigest digest) throws MalformedMessage {
    Attributes attributes = message.attributes();
    for (Attributes expression : attributes.list(NFTA_RULE_EXPRESSIONS)) {
      if (!Expressions.isCounter(expression)) {
        digest.update(expression.bytes());
      }
    }
    digest.update(attributes.bytesOrNone(NFTA_RULE_USERDATA));
    digest.update((byte) 0); // keeps consecutive rules apart
  }

  @Override
  public String toString() {
    return "rule " + family + " " + table + " " + chain;
  }
}
