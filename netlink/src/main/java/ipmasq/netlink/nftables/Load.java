package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.Data;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;
import java.util.Set;

/** Puts something about the packet into a register. */
public sealed interface Load extends Expression {
  /** Bytes of the packet. */
  record Payload(int register, Base base, int offset, int length) implements Load {
    public static final Payload IP_SADDR = new Payload(1, Base.NETWORK, 12, 4);
    public static final Payload IP_DADDR = new Payload(1, Base.NETWORK, 16, 4);
    public static final Payload IP6_SADDR = new Payload(1, Base.NETWORK, 8, 16);
    public static final Payload IP6_DADDR = new Payload(1, Base.NETWORK, 24, 16);
    public static final Payload DPORT = new Payload(1, Base.TRANSPORT, 2, 2);

    private static final int NFTA_PAYLOAD_DREG = 1;
    private static final int NFTA_PAYLOAD_BASE = 2;
    private static final int NFTA_PAYLOAD_OFFSET = 3;
    private static final int NFTA_PAYLOAD_LEN = 4;
    private static final int NFTA_PAYLOAD_SREG = 5;

    /** The header that offsets count from: {@code NFT_PAYLOAD_*_HEADER}. */
    public enum Base {
      /** {@code NFT_PAYLOAD_LL_HEADER}. */
      LINK,
      NETWORK,
      TRANSPORT,
      INNER
    }

    @Override
    public void write(MessageWriter out) {
      out.u32(NFTA_PAYLOAD_DREG, register).u32(NFTA_PAYLOAD_BASE, base.ordinal());
      out.u32(NFTA_PAYLOAD_OFFSET, offset).u32(NFTA_PAYLOAD_LEN, length);
    }

    static Payload read(Attributes attributes) throws MalformedMessage {
      Expressions.refuse(attributes, NFTA_PAYLOAD_SREG); // writes to the packet
      return new Payload(
          attributes.u32(NFTA_PAYLOAD_DREG),
          Expressions.numbered(Base.values(), attributes.u32(NFTA_PAYLOAD_BASE)),
          attributes.u32(NFTA_PAYLOAD_OFFSET),
          attributes.u32(NFTA_PAYLOAD_LEN));
    }
  }

  /** The packet's metadata. */
  record Meta(int register, Meta.Key key) implements Load {
    private static final int NFTA_META_DREG = 1;
    static final int NFTA_META_KEY = 2;
    static final int NFTA_META_SREG = 3;

    /** What {@link Key#NFPROTO} loads for an IPv4 packet: {@code NFPROTO_IPV4}. */
    public static final Data IPV4 = Data.u8(2);

    /** What {@link Key#NFPROTO} loads for an IPv6 packet: {@code NFPROTO_IPV6}. */
    public static final Data IPV6 = Data.u8(10);

    /** What to load: {@code NFT_META_*}. Rules with other keys are kept as bytes. */
    public enum Key {
      /** {@code NFT_META_LEN}. */
      LENGTH(0),
      /** The ether type. */
      PROTOCOL(1),
      PRIORITY(2),
      MARK(3),
      IIF(4),
      OIF(5),
      IIFNAME(6),
      OIFNAME(7),
      IIFTYPE(8),
      OIFTYPE(9),
      SKUID(10),
      SKGID(11),
      NFTRACE(12),
      RTCLASSID(13),
      SECMARK(14),
      /** {@link #IPV4} or {@link #IPV6}. */
      NFPROTO(15),
      /** The number of the transport protocol. */
      L4PROTO(16),
      PKTTYPE(19),
      CPU(20),
      IIFGROUP(21),
      OIFGROUP(22),
      CGROUP(23),
      PRANDOM(24),
      SECPATH(25),
      IIFKIND(26),
      OIFKIND(27);

      final int number;

      Key(int number) {
        this.number = number;
      }
    }

    /** To register 1. */
    public Meta(Meta.Key key) {
      this(1, key);
    }

    @Override
    public void write(MessageWriter out) {
      out.u32(NFTA_META_KEY, key.number).u32(NFTA_META_DREG, register);
    }

    /** A load, or a set if there is a source register. */
    static Expression read(Attributes attributes) throws MalformedMessage {
      int number = attributes.u32(NFTA_META_KEY);
      for (Meta.Key key : Meta.Key.values()) {
        if (key.number == number) {
          return attributes.has(NFTA_META_SREG)
              ? new Statement.SetMeta(attributes.u32(NFTA_META_SREG), key)
              : new Meta(attributes.u32(NFTA_META_DREG), key);
        }
      }
      throw new MalformedMessage("meta key " + number);
    }
  }

  /** What connection tracking knows of the packet's flow. */
  record Ct(int register, Ct.Key key) implements Load {
    private static final int NFTA_CT_DREG = 1;
    private static final int NFTA_CT_KEY = 2;
    private static final int NFTA_CT_DIRECTION = 3;
    private static final int NFTA_CT_SREG = 4;

    /** What to load, in host order: {@code NFT_CT_*}. */
    public enum Key {
      STATE,
      DIRECTION,
      STATUS,
      MARK
    }

    @Override
    public void write(MessageWriter out) {
      out.u32(NFTA_CT_KEY, key.ordinal()).u32(NFTA_CT_DREG, register);
    }

    static Ct read(Attributes attributes) throws MalformedMessage {
      Expressions.refuse(attributes, NFTA_CT_DIRECTION, NFTA_CT_SREG);
      return new Ct(
          attributes.u32(NFTA_CT_DREG),
          Expressions.numbered(Ct.Key.values(), attributes.u32(NFTA_CT_KEY)));
    }
  }

  /** What the routing table says of an address of the packet. */
  record Fib(int register, Result result, Set<Flag> flags) implements Load {
    private static final int NFTA_FIB_DREG = 1;
    private static final int NFTA_FIB_RESULT = 2;
    private static final int NFTA_FIB_FLAGS = 3;

    /** The type of an address of the host itself: {@code RTN_LOCAL}. */
    public static final Data LOCAL = Data.hostU32(2);

    public Fib {
      flags = Set.copyOf(flags);
    }

    /** What to ask for: {@code NFT_FIB_RESULT_*}. */
    public enum Result {
      /** The index of the interface. */
      OIF,
      OIFNAME,
      /** Local, broadcast, …; see {@link #LOCAL}. {@code NFT_FIB_RESULT_ADDRTYPE}. */
      TYPE
    }

    /** What of the packet takes part in the question: {@code NFTA_FIB_F_*}. */
    public enum Flag {
      SADDR,
      DADDR,
      MARK,
      IIF,
      OIF
    }

    /** {@code fib daddr type}, to register 1. */
    public static Fib destinationType() {
      return new Fib(1, Result.TYPE, Set.of(Flag.DADDR));
    }

    @Override
    public void write(MessageWriter out) {
      out.u32(NFTA_FIB_FLAGS, Expressions.bits(flags))
          .u32(NFTA_FIB_RESULT, result.ordinal() + 1)
          .u32(NFTA_FIB_DREG, register);
    }

    static Fib read(Attributes attributes) throws MalformedMessage {
      int bits = attributes.u32(NFTA_FIB_FLAGS);
      if (bits >>> Flag.values().length != 0) {
        throw new MalformedMessage("fib flags " + bits); // such as NFTA_FIB_F_PRESENT
      }
      return new Fib(
          attributes.u32(NFTA_FIB_DREG),
          Expressions.numbered(Result.values(), attributes.u32(NFTA_FIB_RESULT) - 1),
          Expressions.flags(Flag.class, bits));
    }
  }

  /**
   * What a map holds for a register; the rule goes on only if there is something.
   *
   * @param to the register for the value; 0: the value is a verdict
   */
  record MapLookup(int register, String map, int to) implements Load {
    public boolean isVerdict() {
      return to == Statement.Verdict.NFT_REG_VERDICT;
    }

    @Override
    public void write(MessageWriter out) {
      out.u32(Match.Lookup.NFTA_LOOKUP_SREG, register)
          .u32(Match.Lookup.NFTA_LOOKUP_DREG, to)
          .string(Match.Lookup.NFTA_LOOKUP_SET, map);
    }
  }
}
