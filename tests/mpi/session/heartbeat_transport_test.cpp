#include "mpi/session/heartbeat_transport.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>
#include <utility>

#include "support/transports/thread_transport.h"

namespace hios::test {
namespace {

TEST(HeartbeatTransport, CountsEveryCallTwiceAndHandsItOn) {
  run_ranks(2, [](mpi::Transport& plain) {
    mpi::HeartbeatTransport transport(plain);
    EXPECT_EQ(transport.rank(), plain.rank());
    EXPECT_EQ(transport.size(), 2u);
    EXPECT_EQ(transport.path(), plain.path());
    std::uint64_t before = transport.heartbeats();
    const auto heartbeats = [&] {
      return transport.heartbeats() - std::exchange(before, transport.heartbeats());
    };

    transport.barrier();
    EXPECT_EQ(heartbeats(), 2u);
    const std::string mine = std::to_string(plain.rank().index());
    EXPECT_EQ(transport.all_gather(mine), (std::vector<std::string>{"0", "1"}));
    EXPECT_EQ(heartbeats(), 2u);
    EXPECT_EQ(transport.broadcast(mine), "0");
    EXPECT_EQ(heartbeats(), 2u);
    double most = static_cast<double>(plain.rank().index());
    transport.all_reduce_max({&most, 1});
    EXPECT_EQ(most, 1);
    EXPECT_EQ(heartbeats(), 2u);
    EXPECT_STREQ(transport.doing(), "working on its own");
  });
}

TEST(HeartbeatTransport, NamesTheCallUnderWay) {
  std::latch seen(1);
  std::atomic<mpi::HeartbeatTransport*> watched = nullptr;
  run_ranks(2, [&](mpi::Transport& plain) {
    mpi::HeartbeatTransport transport(plain);
    if (plain.rank() == Rank(0)) {
      watched = &transport;
      transport.barrier();  // until rank 1 has read what this rank does
      seen.wait();
    } else {
      while (watched == nullptr || watched.load()->heartbeats() == 0) std::this_thread::yield();
      EXPECT_STREQ(watched.load()->doing(), "waiting for the other ranks (barrier)");
      transport.barrier();
      seen.count_down();
    }
  });
}

TEST(HeartbeatTransport, AFailedCallEndsToo) {
  EXPECT_THROW(run_ranks(1,
                         [](mpi::Transport& plain) {
                           mpi::HeartbeatTransport transport(plain);
                           try {
                             transport.abort(7);
                           } catch (const JobAborted& aborted) {
                             EXPECT_EQ(aborted.exit_status(), 7);
                             throw;
                           }
                         }),
               JobAborted);
}

}  // namespace
}  // namespace hios::test
