package ipmasq.netlink.nftables;

import ipmasq.netlink.Attributes;
import ipmasq.netlink.MalformedMessage;
import ipmasq.netlink.MessageWriter;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/** Does something to the packet or its flow. */
public sealed interface Statement extends Expression {
  /**
   * Decides on the packet.
   *
   * @param chain where a jump or goto leads; empty otherwise
   */
  record Verdict(Code code, String chain) implements Statement {
    public static final Verdict ACCEPT = new Verdict(Code.ACCEPT, "");
    public static final Verdict DROP = new Verdict(Code.DROP, "");
    public static final Verdict RETURN = new Verdict(Code.RETURN, "");

    static final int NFT_REG_VERDICT = 0;
    private static final int NFTA_VERDICT_CODE = 1;
    private static final int NFTA_VERDICT_CHAIN = 2;

    /** What is decided: {@code NF_DROP}, {@code NF_ACCEPT} and {@code NFT_*}. */
    public enum Code {
      DROP(0),
      ACCEPT(1),
      CONTINUE(-1),
      JUMP(-3),
      GOTO(-4),
      RETURN(-5);

      private final int number;

      Code(int number) {
        this.number = number;
      }
    }

    public Verdict {
      if ((code == Code.JUMP || code == Code.GOTO) == chain.isEmpty()) {
        throw new IllegalArgumentException(code + " to \"" + chain + "\"");
      }
    }

    /** Goes on in another chain, and after it in this one. */
    public static Verdict jump(String chain) {
      return new Verdict(Code.JUMP, chain);
    }

    @Override
    public void write(MessageWriter out) {
      out.u32(Compute.Immediate.NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
      int data = out.nest(Compute.Immediate.NFTA_IMMEDIATE_DATA);
      int verdict = out.nest(Expressions.NFTA_DATA_VERDICT);
      out.u32(NFTA_VERDICT_CODE, code.number);
      if (!chain.isEmpty()) {
        out.string(NFTA_VERDICT_CHAIN, chain);
      }
      out.end(verdict).end(data);
    }

    static Verdict read(Attributes verdict) throws MalformedMessage {
      int number = verdict.u32(NFTA_VERDICT_CODE);
      String chain = verdict.string(NFTA_VERDICT_CHAIN, "");
      for (Code code : Code.values()) {
        if (code.number == number && (code == Code.JUMP || code == Code.GOTO) != chain.isEmpty()) {
          return new Verdict(code, chain);
        }
      }
      throw new MalformedMessage("verdict " + number);
    }

    @Override
    public String toString() {
      String name = code.name().toLowerCase(Locale.ROOT);
      return chain.isEmpty() ? name : name + " " + chain;
    }
  }

  /** Counts packets and bytes. */
  record Counter(long packets, long bytes) implements Statement {
    private static final int NFTA_COUNTER_BYTES = 1;
    private static final int NFTA_COUNTER_PACKETS = 2;

    @Override
    public void write(MessageWriter out) {
      out.u64(NFTA_COUNTER_BYTES, bytes).u64(NFTA_COUNTER_PACKETS, packets);
    }

    static Counter read(Attributes attributes) throws MalformedMessage {
      return new Counter(attributes.u64(NFTA_COUNTER_PACKETS), attributes.u64(NFTA_COUNTER_BYTES));
    }
  }

  /** Changes a packet's metadata: usually its mark. */
  record SetMeta(int register, Load.Meta.Key key) implements Statement {
    @Override
    public void write(MessageWriter out) {
      out.u32(Load.Meta.NFTA_META_KEY, key.number).u32(Load.Meta.NFTA_META_SREG, register);
    }
  }

  /**
   * Gives the packet the address of the interface it leaves by.
   *
   * @param firstPort the register with the lowest source port; 0: any port
   * @param lastPort the register with the highest; may be the same; 0: any port
   */
  record Masquerade(Set<NatFlag> flags, int firstPort, int lastPort) implements Statement {
    private static final int NFTA_MASQ_FLAGS = 1;
    private static final int NFTA_MASQ_REG_PROTO_MIN = 2;
    private static final int NFTA_MASQ_REG_PROTO_MAX = 3;

    public Masquerade {
      flags = Set.copyOf(flags);
      if ((firstPort == 0) != (lastPort == 0)) {
        throw new IllegalArgumentException("one end of a port range");
      }
    }

    /** With any port. */
    public Masquerade(Set<NatFlag> flags) {
      this(flags, 0, 0);
    }

    @Override
    public void write(MessageWriter out) {
      int bits = NatFlag.bits(flags, firstPort != 0);
      if (bits != 0) {
        out.u32(NFTA_MASQ_FLAGS, bits);
      }
      if (firstPort != 0) {
        out.u32(NFTA_MASQ_REG_PROTO_MIN, firstPort).u32(NFTA_MASQ_REG_PROTO_MAX, lastPort);
      }
    }

    static Masquerade read(Attributes attributes) throws MalformedMessage {
      int first = attributes.u32(NFTA_MASQ_REG_PROTO_MIN, 0);
      int last = attributes.u32(NFTA_MASQ_REG_PROTO_MAX, first);
      if ((first == 0) != (last == 0)) {
        throw new MalformedMessage("one end of a port range");
      }
      return new Masquerade(NatFlag.of(attributes.u32(NFTA_MASQ_FLAGS, 0)), first, last);
    }
  }

  /**
   * Gives the packet another address, port, or both, from ranges in registers; register 0 leaves
   * that part to the kernel.
   *
   * @param family {@link TableFamily#IP} or {@link TableFamily#IP6}
   */
  record Nat(
      Kind kind,
      TableFamily family,
      int firstAddress,
      int lastAddress,
      int firstPort,
      int lastPort,
      Set<NatFlag> flags)
      implements Statement {
    private static final int NFTA_NAT_TYPE = 1;
    private static final int NFTA_NAT_FAMILY = 2;
    private static final int NFTA_NAT_REG_ADDR_MIN = 3;
    private static final int NFTA_NAT_REG_ADDR_MAX = 4;
    private static final int NFTA_NAT_REG_PROTO_MIN = 5;
    private static final int NFTA_NAT_REG_PROTO_MAX = 6;
    private static final int NFTA_NAT_FLAGS = 7;

    public Nat {
      flags = Set.copyOf(flags);
    }

    /** Which end of the flow gets another address: {@code NFT_NAT_*}. */
    public enum Kind {
      SNAT,
      DNAT
    }

    @Override
    public void write(MessageWriter out) {
      out.u32(NFTA_NAT_TYPE, kind.ordinal()).u32(NFTA_NAT_FAMILY, family.number());
      register(out, NFTA_NAT_REG_ADDR_MIN, firstAddress);
      register(out, NFTA_NAT_REG_ADDR_MAX, lastAddress);
      register(out, NFTA_NAT_REG_PROTO_MIN, firstPort);
      register(out, NFTA_NAT_REG_PROTO_MAX, lastPort);
      int bits = NatFlag.bits(flags, firstPort != 0);
      if (bits != 0) {
        out.u32(NFTA_NAT_FLAGS, bits);
      }
    }

    private static void register(MessageWriter out, int type, int register) {
      if (register != 0) {
        out.u32(type, register);
      }
    }

    static Nat read(Attributes attributes) throws MalformedMessage {
      int address = attributes.u32(NFTA_NAT_REG_ADDR_MIN, 0);
      int port = attributes.u32(NFTA_NAT_REG_PROTO_MIN, 0);
      return new Nat(
          Expressions.numbered(Kind.values(), attributes.u32(NFTA_NAT_TYPE)),
          TableFamily.of(attributes.u32(NFTA_NAT_FAMILY)),
          address,
          attributes.u32(NFTA_NAT_REG_ADDR_MAX, address),
          port,
          attributes.u32(NFTA_NAT_REG_PROTO_MAX, port),
          NatFlag.of(attributes.u32(NFTA_NAT_FLAGS, 0)));
    }
  }

  /** How address and port are chosen: {@code NF_NAT_RANGE_*}. */
  enum NatFlag {
    /** The port by a hash with a secret: {@code NF_NAT_RANGE_PROTO_RANDOM}. */
    RANDOM(0x4),
    /** The port at random: {@code NF_NAT_RANGE_PROTO_RANDOM_FULLY}. */
    FULLY_RANDOM(0x10),
    /** The same address for all flows of a client. */
    PERSISTENT(0x8);

    /** Implied by the registers in use, yet the kernel and nft set them. */
    private static final int NF_NAT_RANGE_MAP_IPS = 0x1;

    private static final int NF_NAT_RANGE_PROTO_SPECIFIED = 0x2;

    private final int bit;

    NatFlag(int bit) {
      this.bit = bit;
    }

    static int bits(Set<NatFlag> flags, boolean ports) {
      int bits = ports ? NF_NAT_RANGE_PROTO_SPECIFIED : 0;
      for (NatFlag flag : flags) {
        bits |= flag.bit;
      }
      return bits;
    }

    static Set<NatFlag> of(int bits) throws MalformedMessage {
      Set<NatFlag> flags = EnumSet.noneOf(NatFlag.class);
      int rest = bits & ~(NF_NAT_RANGE_MAP_IPS | NF_NAT_RANGE_PROTO_SPECIFIED);
      for (NatFlag flag : values()) {
        if ((rest & flag.bit) != 0) {
          flags.add(flag);
          rest &= ~flag.bit;
        }
      }
      if (rest != 0) {
        throw new MalformedMessage("nat flags " + bits);
      }
      return flags;
    }
  }

  /**
   * Hands the packet to a named object of the table.
   *
   * @param type the kernel's number for the kind of object
   */
  record ObjectReference(int type, String name) implements Statement {
    private static final int NFTA_OBJREF_IMM_TYPE = 1;
    private static final int NFTA_OBJREF_IMM_NAME = 2;
    private static final int NFTA_OBJREF_SET_SREG = 3;
    private static final int NFT_OBJECT_COUNTER = 1;

    /** Whether it only counts. */
    public boolean isCounter() {
      return type == NFT_OBJECT_COUNTER;
    }

    @Override
    public void write(MessageWriter out) {
      out.u32(NFTA_OBJREF_IMM_TYPE, type).string(NFTA_OBJREF_IMM_NAME, name);
    }

    static ObjectReference read(Attributes attributes) throws MalformedMessage {
      Expressions.refuse(attributes, NFTA_OBJREF_SET_SREG); // an object out of a map
      return new ObjectReference(
          attributes.u32(NFTA_OBJREF_IMM_TYPE), attributes.string(NFTA_OBJREF_IMM_NAME));
    }
  }
}
