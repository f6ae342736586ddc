/**
 * nf_tables over netlink: tables, chains, sets with their elements, and rules made of expressions.
 * Uses {@code ipmasq.netlink}; knows the kernel's objects, not what they are used for.
 *
 * <p>{@link ipmasq.netlink.nftables.Nftables} asks and commits, a {@link
 * ipmasq.netlink.nftables.Batch} collects what one transaction changes. Objects and expressions are
 * records that read and write their own bytes. Parts of a foreign rule that this package does not
 * know are kept as bytes.
 */
@NullMarked
package ipmasq.netlink.nftables;

import org.jspecify.annotations.NullMarked;
