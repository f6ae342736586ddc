/**
 * What happens to a packet, as pure data: a policy judges a packet, and two tell which packets they
 * judge differently.
 */
@NullMarked
package ipmasq.policy;

import org.jspecify.annotations.NullMarked;
