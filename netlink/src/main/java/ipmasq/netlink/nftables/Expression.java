package ipmasq.netlink.nftables;

/**
 * A step of a rule. Steps hand values on in registers: {@code 1} to {@code 4} hold 16 bytes each,
 * {@code 8} to {@code 23} are quarters of the same, {@code 0} takes the verdict.
 */
public sealed interface Expression
    permits Bitwise,
        Byteorder,
        Cmp,
        Counter,
        Ct,
        Fib,
        Immediate,
        InRange,
        Lookup,
        MapLookup,
        Masquerade,
        Meta,
        Nat,
        Numgen,
        ObjectReference,
        Payload,
        SetMeta,
        Unknown,
        Verdict,
        Xtables {}
