#include "support/transports/thread_transport.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>
#include <vector>

namespace hios::test {
namespace {

using mpi::Message;
using mpi::Transport;

/// Sends one byte from rank 0 to rank 1 `iterations` times.
void send_bytes(Transport& transport, int iterations) {
  std::array<std::byte, 1> byte{};
  const bool sender = transport.rank() == Rank(0);
  const std::vector<Message> one = {{Rank(sender ? 1 : 0), 5, byte.data(), 1}};
  const std::vector<Message> none;
  const auto channel = transport.open_channel(sender ? one : none, sender ? none : one);
  for (int i = 0; i < iterations; ++i) {
    channel->start_receives();
    if (sender) channel->start_send(0);
    channel->finish();
  }
}

template <class Exception, class Run>
std::string text_of(const Run& run) {
  try {
    run();
  } catch (const Exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(ThreadTransport, FindsThatALostMessageIsAwaitedForEver) {
  ThreadOptions options;
  options.lost = LostMessage{Rank(0), Rank(1), 5, 2};
  EXPECT_EQ(text_of<Deadlock>([&] {
              run_ranks(
                  2, [](Transport& transport) { send_bytes(transport, 3); }, options);
            }),
            "deadlock: rank 0 has ended; rank 1 waits for its message from rank 0, tag 5");
}

TEST(ThreadTransport, FindsRanksThatWaitForEachOther) {
  const std::string text = text_of<Deadlock>([] {
    run_ranks(2, [](Transport& transport) {
      std::array<std::byte, 2> bytes{};
      const Rank peer(1 - transport.rank().index());
      const std::vector<Message> sends = {{peer, 1, bytes.data(), 1}};
      const std::vector<Message> receives = {{peer, 1, bytes.data() + 1, 1}};
      const auto channel = transport.open_channel(sends, receives);
      channel->start_receives();
      channel->await_receive(0);  // before either has sent
      channel->start_send(0);
      channel->finish();
    });
  });
  EXPECT_EQ(text,
            "deadlock: rank 0 waits for its message from rank 1, tag 1; "
            "rank 1 waits for its message from rank 0, tag 1");
}

TEST(ThreadTransport, FindsARankThatLeftACollective) {
  const std::string text = text_of<Deadlock>([] {
    run_ranks(3, [](Transport& transport) {
      if (transport.rank() != Rank(1)) transport.barrier();
    });
  });
  EXPECT_EQ(text, "deadlock: rank 0 waits in barrier; rank 1 has ended; rank 2 waits in barrier");
}

TEST(ThreadTransport, FindsDifferentCollectives) {
  const std::string text = text_of<RunError>([] {
    run_ranks(2, [](Transport& transport) {
      if (transport.rank() == Rank(0)) {
        transport.barrier();
      } else {
        transport.all_gather("x");
      }
    });
  });
  EXPECT_NE(text.find("while others are in"), std::string::npos) << text;
}

TEST(ThreadTransport, ARankThatThrowsEndsTheWaitsOfTheOthers) {
  std::atomic<int> failures = 0;
  const std::string text = text_of<std::logic_error>([&] {
    run_ranks(4, [&](Transport& transport) {
      if (transport.rank() == Rank(2)) throw std::logic_error("my own");
      try {
        transport.barrier();
      } catch (const PeerFailed& error) {
        EXPECT_STREQ(error.what(), "rank 2 failed: my own");
        ++failures;
        throw;
      }
    });
  });
  EXPECT_EQ(text, "my own");
  EXPECT_EQ(failures, 3);
}

TEST(ThreadTransport, ADeadRankEndsTheJob) {
  ThreadOptions options;
  options.death = Death{Rank(1), 4};
  EXPECT_EQ(text_of<RankDied>([&] {
              run_ranks(
                  2, [](Transport& transport) { send_bytes(transport, 100); }, options);
            }),
            "rank 1 died in its call 4");
}

TEST(ThreadTransport, AbortReachesRanksThatWaitForEver) {
  ThreadOptions options;
  options.detect_deadlock = false;
  int status = 0;
  try {
    run_ranks(
        2,
        [](Transport& transport) {
          if (transport.rank() == Rank(0)) transport.abort(7);
          transport.barrier();
        },
        options);
  } catch (const JobAborted& aborted) {
    status = aborted.exit_status();
  }
  EXPECT_EQ(status, 7);
}

TEST(ThreadTransport, NoticesMessagesOfDifferentSizes) {
  const std::string text = text_of<RunError>([] {
    run_ranks(2, [](Transport& transport) {
      std::array<std::byte, 8> bytes{};
      const std::vector<Message> none;
      const std::vector<Message> eight = {{Rank(1), 1, bytes.data(), 8}};
      const std::vector<Message> four = {{Rank(0), 1, bytes.data(), 4}};
      const bool sender = transport.rank() == Rank(0);
      const auto channel = transport.open_channel(sender ? eight : none, sender ? none : four);
      channel->start_receives();
      if (sender) channel->start_send(0);
      channel->finish();
    });
  });
  EXPECT_EQ(text, "tag 1: 8 bytes were sent and 4 awaited");
}

/// The bytes leave the sender's buffer at the last moment that the contract allows.
TEST(ThreadTransport, PunishesABufferThatIsOverwrittenTooEarly) {
  std::byte seen{};
  run_ranks(2, [&](Transport& transport) {
    std::array<std::byte, 1> byte = {std::byte{1}};
    const std::vector<Message> none;
    const std::vector<Message> one = {{Rank(1 - transport.rank().index()), 1, byte.data(), 1}};
    const bool sender = transport.rank() == Rank(0);
    const auto channel = transport.open_channel(sender ? one : none, sender ? none : one);
    if (sender) {
      channel->start_send(0);
      byte[0] = std::byte{2};  // without await_send
      transport.barrier();
    } else {
      transport.barrier();
      channel->start_receives();
    }
    channel->finish();
    if (!sender) seen = byte[0];
  });
  EXPECT_EQ(seen, std::byte{2});
}

}  // namespace
}  // namespace hios::test
