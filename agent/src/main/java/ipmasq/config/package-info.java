/**
 * From the bytes of the config file to a valid config, or to problems with their place. Uses {@code
 * net} and {@code json}.
 */
@NullMarked
package ipmasq.config;

import org.jspecify.annotations.NullMarked;
