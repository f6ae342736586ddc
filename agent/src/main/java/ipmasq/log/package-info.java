/** The log that operators read: lines of text or JSON, on stderr. */
@NullMarked
package ipmasq.log;

import org.jspecify.annotations.NullMarked;
