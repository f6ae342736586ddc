/**
 * What goes wrong on nodes, done to the built agent on purpose: it is killed, starved, fought with
 * and lied to. What was seen stands in {@code docs/faults.md}.
 *
 * <p>Each test has a short form, for every build, and a long one for {@code make fault-test
 * LONG=1}.
 */
@NullMarked
package ipmasq.faults;

import org.jspecify.annotations.NullMarked;
