/** Threads, and the one place where the kernel may refuse one. */
@NullMarked
package ipmasq.thread;

import org.jspecify.annotations.NullMarked;
