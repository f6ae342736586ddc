package ipmasq.evidence.trace;

import ipmasq.net.Family;
import ipmasq.netlink.Answer;
import ipmasq.netlink.Data;
import ipmasq.netlink.MessageWriter;
import ipmasq.netlink.NetlinkUnavailable;
import ipmasq.netlink.nftables.Batch;
import ipmasq.netlink.nftables.Chain;
import ipmasq.netlink.nftables.Commit;
import ipmasq.netlink.nftables.Compute.Bitwise;
import ipmasq.netlink.nftables.Compute.Immediate;
import ipmasq.netlink.nftables.Expression;
import ipmasq.netlink.nftables.Hook;
import ipmasq.netlink.nftables.Load.Ct;
import ipmasq.netlink.nftables.Load.Meta;
import ipmasq.netlink.nftables.Load.Payload;
import ipmasq.netlink.nftables.Match.Cmp;
import ipmasq.netlink.nftables.Nftables;
import ipmasq.netlink.nftables.Rule;
import ipmasq.netlink.nftables.Statement.SetMeta;
import ipmasq.netlink.nftables.Table;
import ipmasq.netlink.nftables.TableFamily;
import ipmasq.netlink.nftables.Trace;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A table that marks the first packets of the flows asked for with {@code nftrace}. Its owner is
 * this process: it is gone when the process is, however that ends.
 */
public final class TraceTable implements AutoCloseable {
  /** How the names of all such tables begin. They only watch. */
  public static final String PREFIX = "ip-masq-agent-trace-";

  /** This process's. */
  static final String NAME = PREFIX + ProcessHandle.current().pid();

  /** After conntrack (−200), before destination NAT (−100): the destination as it was sent. */
  private static final int BEFORE_DSTNAT = -150;

  /** The destination that a Service chose. */
  private static final int AFTER_DSTNAT = -90;

  private static final int NF_CT_STATE_NEW = 8;
  private static final int NF_CT_STATE_UNTRACKED = 64;
  private static final int NFTA_LIMIT_RATE = 1;
  private static final int NFTA_LIMIT_UNIT = 2;
  private static final int NFTA_LIMIT_BURST = 3;

  private final Nftables nftables;
  private final List<Chain> bases;

  private TraceTable(Nftables nftables) {
    this.nftables = nftables;
    this.bases =
        nftables.baseChains() instanceof Answer.Given<List<Chain>>(var chains) ? chains : List.of();
  }

  /** Why there is no table. */
  static final class Refused extends Exception {
    private static final long serialVersionUID = 1;

    Refused(String why) {
      super(why);
    }
  }

  static TraceTable open(TraceRequest request) throws Refused {
    try {
      Nftables nftables = Nftables.open();
      Commit commit = nftables.commit(batch(request));
      if (commit instanceof Commit.Committed) {
        return new TraceTable(nftables);
      }
      nftables.close();
      throw new Refused("the kernel refused a table that goes with its owner: " + commit);
    } catch (NetlinkUnavailable unavailable) {
      throw new Refused("nf_tables: " + unavailable.getMessage());
    }
  }

  private static Batch batch(TraceRequest request) {
    boolean v4 = request.to().family() == Family.IPV4;
    Table table = new Table(v4 ? TableFamily.IP : TableFamily.IP6, NAME).with(Table.Flag.OWNER);
    Batch batch = new Batch().add(table);
    for (Hook hook : List.of(Hook.PREROUTING, Hook.OUTPUT)) {
      for (int priority : List.of(BEFORE_DSTNAT, AFTER_DSTNAT)) {
        String name = hook + (priority == BEFORE_DSTNAT ? "-sent" : "-translated");
        Chain chain = new Chain(table, name, "filter", hook, priority);
        batch.add(chain).add(new Rule(chain, expressions(request, v4)));
      }
    }
    return batch;
  }

  /**
   * {@code ct state new,untracked ip daddr … ip saddr … meta l4proto … th dport … limit rate
   * 20/second meta nftrace set 1}.
   */
  private static List<Expression> expressions(TraceRequest request, boolean v4) {
    List<Expression> rule = new ArrayList<>();
    rule.add(new Ct(1, Ct.Key.STATE));
    rule.add(
        new Bitwise(1, 1, Data.hostU32(NF_CT_STATE_NEW | NF_CT_STATE_UNTRACKED), Data.hostU32(0)));
    rule.add(Cmp.neq(Data.hostU32(0)));
    rule.add(v4 ? Payload.IP_DADDR : Payload.IP6_DADDR);
    rule.add(Cmp.eq(Data.of(request.to().bytes())));
    if (request.from().isPresent()) {
      rule.add(v4 ? Payload.IP_SADDR : Payload.IP6_SADDR);
      rule.add(Cmp.eq(Data.of(request.from().get().bytes())));
    }
    if (request.protocol().isPresent()) {
      rule.add(new Meta(Meta.Key.L4PROTO));
      rule.add(Cmp.eq(Data.u8(request.protocol().getAsInt())));
    }
    if (request.port().isPresent()) {
      rule.add(Payload.DPORT);
      rule.add(Cmp.eq(Data.u16(request.port().getAsInt())));
    }
    byte[] limit =
        new MessageWriter()
            .u64(NFTA_LIMIT_RATE, 20)
            .u64(NFTA_LIMIT_UNIT, 1)
            .u32(NFTA_LIMIT_BURST, 5)
            .written();
    rule.add(new Expression.Unknown("limit", Data.of(limit)));
    rule.add(new Immediate(1, Data.u8(1)));
    rule.add(new SetMeta(1, Meta.Key.NFTRACE));
    return rule;
  }

  /** How packets enter the chain of a step, if not by a jump. */
  Optional<Chain.BaseHook> base(Trace step) {
    return bases.stream()
        .filter(chain -> chain.family() == step.family())
        .filter(chain -> chain.table().equals(step.table()) && chain.name().equals(step.chain()))
        .findFirst()
        .flatMap(Chain::base);
  }

  /** The handles of a chain's rules; none if they cannot be read. */
  List<Long> handles(Trace step) {
    Chain chain = new Chain(new Table(step.family(), step.table()), step.chain());
    return nftables.rules(chain) instanceof Answer.Given<List<Rule>>(var rules)
        ? rules.stream().map(Rule::handle).toList()
        : List.of();
  }

  /** The table goes with its socket. */
  @Override
  public void close() {
    nftables.close();
  }
}
