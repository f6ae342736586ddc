/** A lab of network namespaces with real packets, and fakes for faults. */
@NullMarked
package ipmasq.testkit;

import org.jspecify.annotations.NullMarked;
