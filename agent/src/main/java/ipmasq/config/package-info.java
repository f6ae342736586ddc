/**
 * Turns the bytes of config files into a valid config and its policy, or into problems with their
 * places.
 */
@NullMarked
package ipmasq.config;

import org.jspecify.annotations.NullMarked;
