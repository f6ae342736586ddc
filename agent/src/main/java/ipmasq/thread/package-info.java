/** Starts threads that the agent can do without for a while if the kernel refuses them. */
@NullMarked
package ipmasq.thread;

import org.jspecify.annotations.NullMarked;
