/** What the agent writes as JSON, held against {@code docs/schema/output.schema.json}. */
@NullMarked
package ipmasq.output;

import org.jspecify.annotations.NullMarked;
