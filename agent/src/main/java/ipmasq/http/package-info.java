/**
 * A small HTTP/1.1 server for a port that anybody may reach: GET and HEAD, and a bound on
 * everything that a client can make it hold. Uses {@code net}.
 *
 * <p>The JDK's own server costs three times the memory and takes a thread for as long as a slow
 * client pleases.
 */
@NullMarked
package ipmasq.http;

import org.jspecify.annotations.NullMarked;
