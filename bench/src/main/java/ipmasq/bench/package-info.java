/**
 * The benchmarks: {@code make bench} runs them all and writes one report. Uses the agent's own
 * backends, its built program, and the lab.
 *
 * <p>The machine is shared and its speed changes from one second to the next. So what is compared
 * is measured in turns within one repetition, in an order that is shuffled each time, and the
 * median of the ratios counts. What is promised in milliseconds has room to spare.
 *
 * <p>Not {@code @NullMarked}: what was measured is kept in maps by kind, all of whose keys exist.
 */
package ipmasq.bench;
