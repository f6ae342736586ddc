package ipmasq.netlink.nftables;

import ipmasq.netlink.AttributeReader;
import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageReader;
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
  private static final int NFTA_RULE_POSITION = 6;
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

  /** Names the rules of a chain, or of a table where the chain is empty, in a request. */
  static void chain(MessageWriter out, String table, String chain) {
    out.string(NFTA_RULE_TABLE, table);
    if (!chain.isEmpty()) {
      out.string(NFTA_RULE_CHAIN, chain);
    }
  }

  /** Names it by its handle in a request. */
  void name(MessageWriter out) {
    chain(out, table, chain);
    out.u64(NFTA_RULE_HANDLE, handle);
  }

  void write(MessageWriter out, long position) {
    chain(out, table, chain);
    body(out);
    if (position != 0) {
      out.u64(NFTA_RULE_POSITION, position);
    }
  }

  /** The expressions and the comment. */
  void body(MessageWriter out) {
    int list = out.nest(NFTA_RULE_EXPRESSIONS);
    for (Expression expression : expressions) {
      Expressions.write(out, Expressions.NFTA_LIST_ELEM, expression);
    }
    out.end(list);
    if (!comment.isEmpty()) {
      out.bytes(NFTA_RULE_USERDATA, Userdata.comment(NFTNL_UDATA_RULE_COMMENT, comment));
    }
  }

  static Rule read(MessageReader message) throws MalformedMessage {
    Attributes attributes = Attributes.of(message.attributes(), NFTA_RULE_USERDATA);
    List<Expression> expressions = new ArrayList<>();
    AttributeReader list = attributes.list(NFTA_RULE_EXPRESSIONS);
    while (list.next()) {
      if (list.type() == Expressions.NFTA_LIST_ELEM) {
        expressions.add(Expressions.read(list.nested()));
      }
    }
    return new Rule(
        TableFamily.of(message.family()),
        attributes.string(NFTA_RULE_TABLE),
        attributes.string(NFTA_RULE_CHAIN),
        expressions,
        attributes.has(NFTA_RULE_USERDATA)
            ? Userdata.comment(attributes.bytes(NFTA_RULE_USERDATA), NFTNL_UDATA_RULE_COMMENT)
            : "",
        attributes.u64(NFTA_RULE_HANDLE, 0));
  }

  /** Adds what the rule says to a digest: its expressions except counters, and its comment. */
  static void digest(MessageReader message, MessageDigest digest) throws MalformedMessage {
    AttributeReader attributes = message.attributes();
    while (attributes.next()) {
      if (attributes.type() == NFTA_RULE_EXPRESSIONS) {
        AttributeReader list = attributes.nested();
        while (list.next()) {
          if (!Expressions.isCounter(list.nested())) {
            digest.update(list.bytes());
          }
        }
      } else if (attributes.type() == NFTA_RULE_USERDATA) {
        digest.update(attributes.bytes());
      }
    }
    digest.update((byte) 0); // keeps consecutive rules apart
  }

  /** Much as {@code nft list} shows it. */
  @Override
  public String toString() {
    RuleText text = new RuleText(family);
    for (Expression expression : expressions) {
      text.print(expression);
    }
    if (!comment.isEmpty()) {
      text.say("comment \"" + comment + "\"");
    }
    return text.toString();
  }
}
