/**
 * From the bytes of the config file to a valid config and the policy it asks for, or to problems
 * with their place. Uses {@code net}, {@code json} and {@code policy}.
 */
@NullMarked
package ipmasq.config;

import org.jspecify.annotations.NullMarked;
