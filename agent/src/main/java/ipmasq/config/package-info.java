/**
 * From the bytes of the config files to a valid config and the policy that it asks for, or to
 * problems with their place.
 */
@NullMarked
package ipmasq.config;

import org.jspecify.annotations.NullMarked;
