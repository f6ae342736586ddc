/**
 * A small HTTP/1.1 server for a port that anybody may reach: GET and HEAD, one request per
 * connection, and a bound on everything that a client can make it hold.
 *
 * <p>Not the JDK's own server, which does not bound the number of silent clients: docs/adr/0009.
 */
@NullMarked
package ipmasq.http;

import org.jspecify.annotations.NullMarked;
