package ipmasq.netlink.nftables;

/** Numbers of nf_tables messages, as they stand in a header. */
final class MessageType {
  static final int BATCH_BEGIN = 0x10;
  static final int BATCH_END = 0x11;
  static final int SUBSYSTEM = 10;

  static final int NEW_TABLE = SUBSYSTEM << 8;
  static final int GET_TABLE = NEW_TABLE + 1;
  static final int DELETE_TABLE = NEW_TABLE + 2;
  static final int NEW_CHAIN = NEW_TABLE + 3;
  static final int GET_CHAIN = NEW_TABLE + 4;
  static final int DELETE_CHAIN = NEW_TABLE + 5;
  static final int NEW_RULE = NEW_TABLE + 6;
  static final int GET_RULE = NEW_TABLE + 7;
  static final int DELETE_RULE = NEW_TABLE + 8;
  static final int NEW_SET = NEW_TABLE + 9;
  static final int GET_SET = NEW_TABLE + 10;
  static final int DELETE_SET = NEW_TABLE + 11;
  static final int NEW_ELEMENT = NEW_TABLE + 12;
  static final int GET_ELEMENT = NEW_TABLE + 13;
  static final int DELETE_ELEMENT = NEW_TABLE + 14;
  static final int GET_GENERATION = NEW_TABLE + 16;

  private MessageType() {}
}
