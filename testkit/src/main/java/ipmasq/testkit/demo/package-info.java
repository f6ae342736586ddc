/**
 * The guided tour of {@code make demo}: the built agent in the lab, judged by what the destinations
 * of real packets see. Uses the lab; of the agent it knows only the command line.
 */
@NullMarked
package ipmasq.testkit.demo;

import org.jspecify.annotations.NullMarked;
