/** The command line: one file a command, everything wired by hand. Uses everything. */
@NullMarked
package ipmasq.cli;

import org.jspecify.annotations.NullMarked;
