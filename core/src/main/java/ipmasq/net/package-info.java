/** Addresses, CIDR blocks, ports, protocols and durations: values with strict parsers. */
@NullMarked
package ipmasq.net;

import org.jspecify.annotations.NullMarked;
