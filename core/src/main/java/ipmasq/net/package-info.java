/** Addresses, blocks of them, ports and durations: values with strict parsers. Uses nothing. */
@NullMarked
package ipmasq.net;

import org.jspecify.annotations.NullMarked;
