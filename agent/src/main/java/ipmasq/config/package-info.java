/**
 * From the bytes of the config file to a valid config, or to problems with their place. Uses {@code
 * net}.
 */
@NullMarked
package ipmasq.config;

import org.jspecify.annotations.NullMarked;
