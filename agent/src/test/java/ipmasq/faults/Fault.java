package ipmasq.faults;

import java.util.function.Consumer;

/** One thing that goes wrong on a node. What lasts is over when the sequence is. */
enum Fault {
  KILL(Victim::kill),
  STOP(Victim::stop),
  FLUSH_CHAIN(Victim::flushChain),
  DELETE_JUMP(Victim::deleteJump),
  REPLACE_RULE(Victim::replaceRule),
  REPLACE_TABLE(Victim::replaceTable),
  DELETE_TABLE(Victim::deleteTable),
  FILL_PIPE(Victim::fillPipe),
  GOOD_FILE(Victim::goodFile),
  BAD_FILE(Victim::badFile),
  NO_FILE(Victim::noFile),
  BURST_OF_WRITES(Victim::burst),
  FIFO_FOR_FILE(Victim::fifo),
  DIRECTORY_AWAY(Victim::directoryAway),
  TAKE_DESCRIPTORS(Victim::takeDescriptors),
  SHRINK_MEMORY(Victim::shrinkMemory);

  private final Consumer<Victim> how;

  Fault(Consumer<Victim> how) {
    this.how = how;
  }

  void strike(Victim victim) {
    how.accept(victim);
  }
}
