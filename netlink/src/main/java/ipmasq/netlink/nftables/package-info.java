/**
 * nf_tables over netlink: tables, chains, sets with their elements, and rules made of expressions.
 * Uses {@code ipmasq.netlink}; knows the kernel's objects and nothing of what they are used for.
 *
 * <p>{@link ipmasq.netlink.nftables.Nftables} asks and commits, a {@link
 * ipmasq.netlink.nftables.Batch} collects what one transaction changes. Objects are records; each
 * expression is one, with the bytes it is in the kernel's messages, and {@link
 * ipmasq.netlink.nftables.Rule#toString} shows a rule much as {@code nft list} does. What this
 * package does not know of a foreign rule is kept as it is.
 */
@NullMarked
package ipmasq.netlink.nftables;

import org.jspecify.annotations.NullMarked;
