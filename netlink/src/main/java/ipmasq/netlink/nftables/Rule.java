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
  private static final int TABLE = 1;
  private static final int CHAIN = 2;
  private static final int HANDLE = 3;
  private static final int EXPRESSIONS = 4;
  private static final int POSITION = 6;
  private static final int USERDATA = 7;
  private static final int ELEMENT = 1;
  private static final int COMMENT = 0;

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
    out.string(TABLE, table);
    if (!chain.isEmpty()) {
      out.string(CHAIN, chain);
    }
  }

  /** Names it by its handle in a request. */
  void name(MessageWriter out) {
    chain(out, table, chain);
    out.u64(HANDLE, handle);
  }

  void write(MessageWriter out, long position) {
    chain(out, table, chain);
    body(out);
    if (position != 0) {
      out.u64(POSITION, position);
    }
  }

  /** The expressions and the comment. */
  void body(MessageWriter out) {
    int list = out.nest(EXPRESSIONS);
    for (Expression expression : expressions) {
      Expressions.write(out, ELEMENT, expression);
    }
    out.end(list);
    if (!comment.isEmpty()) {
      out.bytes(USERDATA, Userdata.comment(COMMENT, comment));
    }
  }

  static Rule read(MessageReader message) throws MalformedMessage {
    Attributes attributes = Attributes.of(message.attributes(), USERDATA);
    List<Expression> expressions = new ArrayList<>();
    AttributeReader list = attributes.list(EXPRESSIONS);
    while (list.next()) {
      if (list.type() == ELEMENT) {
        expressions.add(Expressions.read(list.nested()));
      }
    }
    return new Rule(
        TableFamily.of(message.family()),
        attributes.string(TABLE),
        attributes.string(CHAIN),
        expressions,
        attributes.has(USERDATA) ? Userdata.comment(attributes.bytes(USERDATA), COMMENT) : "",
        attributes.u64(HANDLE, 0));
  }

  /** Adds what the rule says to a digest: its expressions but for counters, and its comment. */
  static void digest(MessageReader message, MessageDigest digest) throws MalformedMessage {
    AttributeReader attributes = message.attributes();
    while (attributes.next()) {
      if (attributes.type() == EXPRESSIONS) {
        AttributeReader list = attributes.nested();
        while (list.next()) {
          if (!Expressions.isCounter(list.nested())) {
            digest.update(list.bytes());
          }
        }
      } else if (attributes.type() == USERDATA) {
        digest.update(attributes.bytes());
      }
    }
    digest.update((byte) 0); // rules that follow each other are not one
  }

  /** Much as {@code nft list} shows it. */
  @Override
  public String toString() {
    RuleText text = new RuleText();
    for (Expression expression : expressions) {
      Expressions.print(expression, text);
    }
    if (!comment.isEmpty()) {
      text.say("comment \"" + comment + "\"");
    }
    return text.toString();
  }
}
