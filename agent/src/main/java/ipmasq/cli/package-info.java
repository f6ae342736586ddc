/** The command line: one file per command, wired by hand. */
@NullMarked
package ipmasq.cli;

import org.jspecify.annotations.NullMarked;
