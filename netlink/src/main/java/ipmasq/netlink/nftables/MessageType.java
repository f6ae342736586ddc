package ipmasq.netlink.nftables;

/** Kinds of nf_tables messages. */
final class MessageType {
  static final int NFNL_MSG_BATCH_BEGIN = 0x10;
  static final int NFNL_MSG_BATCH_END = 0x11;
  static final int NFNL_SUBSYS_NFTABLES = 10;

  static final int NFT_MSG_NEWTABLE = 0;
  static final int NFT_MSG_GETTABLE = 1;
  static final int NFT_MSG_DELTABLE = 2;
  static final int NFT_MSG_NEWCHAIN = 3;
  static final int NFT_MSG_GETCHAIN = 4;
  static final int NFT_MSG_DELCHAIN = 5;
  static final int NFT_MSG_NEWRULE = 6;
  static final int NFT_MSG_GETRULE = 7;
  static final int NFT_MSG_DELRULE = 8;
  static final int NFT_MSG_NEWSET = 9;
  static final int NFT_MSG_GETSET = 10;
  static final int NFT_MSG_DELSET = 11;
  static final int NFT_MSG_NEWSETELEM = 12;
  static final int NFT_MSG_GETSETELEM = 13;
  static final int NFT_MSG_DELSETELEM = 14;
  static final int NFT_MSG_GETGEN = 16;
  static final int NFT_MSG_TRACE = 17;

  /** The type in a message's header: the subsystem in the upper byte. */
  static int inHeader(int message) {
    return NFNL_SUBSYS_NFTABLES << 8 | message;
  }

  private MessageType() {}
}
