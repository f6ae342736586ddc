package ipmasq.netlink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ipmasq.netlink.FaultyEndpoint.Fault;
import ipmasq.netlink.nftables.Batch;
import ipmasq.netlink.nftables.Commit;
import ipmasq.netlink.nftables.Nftables;
import ipmasq.netlink.nftables.Table;
import ipmasq.netlink.nftables.TableFamily;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** System calls that go wrong: each is told as what it is, and the socket works on afterwards. */
@KernelTest
@Tag("fault")
class FaultTest {
  private static final Table TABLE = new Table(TableFamily.INET, "faults");
  private static final int MANY = 1500; // tables: their list comes in several pieces

  /** What a test does with a socket that can be told to fail. */
  private interface Body {
    void run(Nftables nftables, FaultyEndpoint endpoint) throws Exception;
  }

  private static void with(Body body) throws Exception {
    OwnNamespace.run(
        () -> {
          FaultyEndpoint endpoint = FaultyEndpoint.open();
          try (Nftables nftables = Nftables.over(new NetlinkSocket(endpoint))) {
            body.run(nftables, endpoint);
          }
        });
  }

  private static void many(Nftables nftables) {
    Batch batch = new Batch();
    for (int i = 0; i < MANY; i++) {
      batch.add(new Table(TableFamily.INET, "table-" + i));
    }
    assertInstanceOf(Commit.Committed.class, nftables.commit(batch));
  }

  /** The list is whole, or it is no list. */
  private static NetlinkFailure failure(Nftables nftables) {
    return switch (nftables.tables()) {
      case Answer.Given<List<Table>>(var tables) ->
          throw new AssertionError("a list of " + tables.size());
      case Answer.Failed<List<Table>>(var failure) -> failure;
    };
  }

  private static void usable(Nftables nftables) {
    if (!(nftables.tables() instanceof Answer.Given<List<Table>>(var tables))) {
      throw new AssertionError("no list");
    }
    assertEquals(MANY, tables.size());
    assertInstanceOf(Answer.Given.class, nftables.generation());
  }

  @Test
  void callsThatSignalsInterruptAreMadeAgain() throws Exception {
    with(
        (nftables, endpoint) -> {
          for (int i = 0; i < 5; i++) {
            endpoint.sending(Fault.instead(Errno.EINTR)).receiving(Fault.instead(Errno.EINTR));
          }
          many(nftables);
          usable(nftables);
        });
  }

  @Test
  void lostPiecesOfAListMakeItNoList() throws Exception {
    with(
        (nftables, endpoint) -> {
          many(nftables);
          endpoint.receiving(Fault.none()).receiving(Fault.instead(Errno.ENOBUFS));
          assertEquals(new NetlinkFailure.Overrun(), failure(nftables));
          usable(nftables);
        });
  }

  @Test
  void aListThatIsCutShortIsNoList() throws Exception {
    for (int bytes : new int[] {0, 3, 15, 17, 33, 100, 1001}) {
      with(
          (nftables, endpoint) -> {
            many(nftables);
            endpoint.receiving(Fault.none()).receiving(Fault.cut(bytes));
            assertInstanceOf(NetlinkFailure.Malformed.class, failure(nftables));
            usable(nftables);
          });
    }
  }

  @Test
  void aPieceTooLongForItsBufferIsNotRead() throws Exception {
    with(
        (nftables, endpoint) -> {
          many(nftables);
          endpoint.receiving(Fault.endless());
          assertInstanceOf(NetlinkFailure.Malformed.class, failure(nftables));
          usable(nftables);
        });
  }

  @Test
  void aKernelThatStopsAnsweringIsNotAwaitedForEver() throws Exception {
    with(
        (nftables, endpoint) -> {
          many(nftables);
          endpoint.receiving(Fault.none()).receiving(Fault.instead(Errno.EAGAIN));
          assertEquals(new NetlinkFailure.TimedOut(), failure(nftables));
        });
  }

  @Test
  void aListMeanwhileChangedIsNoList() throws Exception {
    with(
        (nftables, endpoint) -> {
          many(nftables);
          endpoint
              .receiving(Fault.none())
              .receiving(
                  real -> {
                    touch();
                    return real.getAsLong();
                  });
          assertEquals(new NetlinkFailure.Interrupted(), failure(nftables));
        });
  }

  private static void touch() {
    try (Nftables other = Nftables.open()) {
      other.commit(new Batch().add(TABLE));
    } catch (NetlinkUnavailable e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aBatchThatTheKernelNeverGotChangesNothing() throws Exception {
    for (Errno errno : List.of(Errno.ENOBUFS, Errno.ENOMEM, Errno.EMSGSIZE, Errno.EPERM)) {
      with(
          (nftables, endpoint) -> {
            endpoint.sending(Fault.instead(errno));
            Commit.Rejected refused =
                assertInstanceOf(Commit.Rejected.class, nftables.commit(new Batch().add(TABLE)));
            assertEquals(errno, refused.errno());
            assertEquals(new Answer.Given<>(Optional.empty()), nftables.find(TABLE));
            assertInstanceOf(Commit.Committed.class, nftables.commit(new Batch().add(TABLE)));
          });
    }
  }

  @Test
  void aBatchWhoseAnswerIsLostMayBeInForce() throws Exception {
    with(
        (nftables, endpoint) -> {
          endpoint.receiving(Fault.after(Errno.ENOBUFS));
          assertEquals(
              new Commit.Unclear(new NetlinkFailure.Overrun()),
              nftables.commit(new Batch().add(TABLE)));
          endpoint.receiving(Fault.cut(10));
          assertInstanceOf(Commit.Unclear.class, nftables.commit(new Batch().add(TABLE)));
          // Nothing of it confuses what comes next.
          assertInstanceOf(Commit.Committed.class, nftables.commit(new Batch().delete(TABLE)));
        });
  }

  @Test
  void aReaderThatThrowsInTheMiddleOfAListLeavesTheSocketUsable() throws Exception {
    OwnNamespace.run(
        () -> {
          try (Nftables nftables = Nftables.open()) {
            many(nftables);
          }
          MessageWriter request =
              new MessageWriter().begin(10 << 8 | 1, 1).netfilter(0, 0); // list the tables
          try (NetlinkSocket socket = new NetlinkSocket(FaultyEndpoint.open())) {
            assertThrows(
                IllegalStateException.class,
                () ->
                    socket.list(
                        request,
                        _ -> {
                          throw new IllegalStateException("a test");
                        }));
            int[] tables = {0};
            assertEquals(Optional.empty(), socket.list(request, _ -> tables[0]++));
            assertEquals(MANY, tables[0]);
          }
        });
  }
}
