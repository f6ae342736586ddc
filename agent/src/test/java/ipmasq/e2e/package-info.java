/**
 * The built agent, as a process, on a real kernel: from a command line and a file to rules and
 * packets. Knows the agent by its outside; the few classes of the agent used here say what to
 * expect.
 *
 * <p>Each test has a {@link ipmasq.e2e.Node} of its own, so that tests run beside each other.
 */
@NullMarked
package ipmasq.e2e;

import org.jspecify.annotations.NullMarked;
