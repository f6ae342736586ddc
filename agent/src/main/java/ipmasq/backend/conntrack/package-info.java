/**
 * The kernel's connection tracking, spoken to by netlink. Uses {@code net}, {@code policy}, {@code
 * backend} and the netlink module.
 */
@NullMarked
package ipmasq.backend.conntrack;

import org.jspecify.annotations.NullMarked;
