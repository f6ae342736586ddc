/** Rewrites call sites that Java links while it runs into plain code. Uses java.base alone. */
@NullMarked
package ipmasq.link;

import org.jspecify.annotations.NullMarked;
