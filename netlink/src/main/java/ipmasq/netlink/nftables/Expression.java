package ipmasq.netlink.nftables;

/**
 * A step of a rule. Steps pass values in registers: {@code 1} to {@code 4} ({@code NFT_REG_1} to
 * {@code NFT_REG_4}) hold 16 bytes each, {@code 8} to {@code 23} ({@code NFT_REG32_00} to {@code
 * NFT_REG32_15}) are their quarters, and {@code 0} ({@code NFT_REG_VERDICT}) takes the verdict.
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
