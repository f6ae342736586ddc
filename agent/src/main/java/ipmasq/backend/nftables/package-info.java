/**
 * The nf_tables of the kernel, spoken to by netlink: a table of our own, and a cheap eye on rules.
 * Uses {@code net}, {@code policy}, {@code plan}, {@code backend} and the netlink module; the only
 * package that does the latter.
 */
@NullMarked
package ipmasq.backend.nftables;

import org.jspecify.annotations.NullMarked;
