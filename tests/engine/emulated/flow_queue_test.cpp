// The queue of flows at emulated buses, by a clock of the test's own, and against the flows of the
// simulator, which share no code with it.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "engine/emulated/flow_queue.h"
#include "hios/base/error.h"
#include "hios/base/numbers/random.h"
#include "hios/evaluate/cold/flows.h"
#include "support/expect_error.h"

namespace hios::emulated {
namespace {

constexpr double kGb = 1e6;  // bytes per ms

Topology topology_of(const std::vector<double>& gb_per_s) {
  std::vector<Bus> buses;
  for (std::size_t b = 0; b < gb_per_s.size(); ++b) {
    buses.push_back({"bus" + std::to_string(b), gb_per_s[b]});
  }
  const std::vector<std::string> devices = {"gpu0"};
  return Topology({{"dram", "", StoreKind::kMemory}}, buses, {{StoreId(0), DeviceId(0), {}, 0, 1}},
                  devices);
}

/// A queue whose time the test sets.
struct TimedQueue {
  TimedQueue(std::vector<Flow> the_flows, const std::vector<double>& buses)
      : flows(std::move(the_flows)),
        topology(topology_of(buses)),
        queue(flows, topology, [this] { return now_ms; }) {}

  void start(std::size_t flow, double ms) {
    now_ms = ms;
    queue.start(flow);
  }
  /// Lets time pass up to the end of every flow, and returns the ends.
  std::vector<double> ends() {
    std::vector<double> ends(flows.size(), -1);
    note(ends);
    while (queue.next_change_ms() < 1e9) {
      now_ms = queue.next_change_ms();
      note(ends);
    }
    return ends;
  }
  void note(std::vector<double>& ends) {
    queue.advance();
    for (std::size_t i = 0; i < flows.size(); ++i) {
      if (ends[i] < 0 && queue.ended(i) > 0) ends[i] = now_ms;
    }
  }

  std::vector<Flow> flows;
  Topology topology;
  double now_ms = 0;
  FlowQueue queue;
};

TEST(FlowQueue, SharesABusAndGivesWhatIsFreeToTheRest) {
  // Both over one bus of 1 GB/s; the second is half as long. The third has a bus of its own.
  TimedQueue timed({{{0}, 0, 10 * kGb, 2'000'000},
                    {{0}, 0, 10 * kGb, 1'000'000},
                    {{1}, 0.5, 10 * kGb, 1'000'000}},
                   {1, 1});
  for (std::size_t flow = 0; flow < 3; ++flow) timed.start(flow, 0);
  const std::vector<double> ends = timed.ends();
  EXPECT_NEAR(ends[1], 2, 1e-6);    // at half the rate
  EXPECT_NEAR(ends[0], 3, 1e-6);    // at half, then all of it
  EXPECT_NEAR(ends[2], 1.5, 1e-6);  // after its latency, alone
}

TEST(FlowQueue, ARoutesOwnLimitLeavesTheBusToOthers) {
  TimedQueue timed({{{0}, 0, 0.25 * kGb, 1'000'000}, {{0}, 0, 10 * kGb, 3'000'000}}, {1});
  timed.start(0, 0);
  timed.start(1, 0);
  const std::vector<double> ends = timed.ends();
  EXPECT_NEAR(ends[0], 4, 1e-6);
  EXPECT_NEAR(ends[1], 4, 1e-6);  // three quarters of the bus
}

TEST(FlowQueue, AFlowWithoutBytesTakesItsLatencyAndMayStartAgain) {
  TimedQueue timed({{{}, 2, 0, 0}}, {1});
  timed.start(0, 1);
  EXPECT_NEAR(timed.ends()[0], 3, 1e-6);
  timed.start(0, 10);
  EXPECT_EQ(timed.queue.ended(0), 1u);
  timed.now_ms = 13;
  timed.queue.advance();
  EXPECT_EQ(timed.queue.ended(0), 2u);
}

// A rank that was asleep moves the flows of the past as if it had looked all the time.
TEST(FlowQueue, ALateLookFindsTheSameEnds) {
  TimedQueue timed({{{0}, 0, 10 * kGb, 1'000'000}, {{0}, 0, 10 * kGb, 3'000'000}}, {1});
  timed.start(0, 0);
  timed.start(1, 0);
  timed.now_ms = 3.5;
  timed.queue.advance();
  EXPECT_EQ(timed.queue.ended(0), 1u);
  EXPECT_EQ(timed.queue.ended(1), 0u);
  EXPECT_NEAR(timed.queue.next_change_ms(), 4, 1e-6);
}

TEST(FlowQueue, RanksShareOneQueue) {
  const Topology topology = topology_of({1});
  const std::vector<Flow> flows = {{{0}, 0, 10 * kGb, 1000}, {{0}, 0, 10 * kGb, 1000}};
  FlowQueue made(flows, topology);
  FlowQueue opened(flows, topology, made.name());
  made.start(0);
  opened.start(1);
  opened.wait(0);
  made.wait(1);
  EXPECT_EQ(made.ended(0), 1u);
  EXPECT_EQ(opened.ended(1), 1u);
}

/// Runs `body` in a child process, which must not return from it.
template <class Body>
pid_t in_child(Body&& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(1);
  }
  return child;
}

// The clock is read while the queue is locked.
TEST(FlowQueue, ARankThatDiesWithTheLockLeavesItToTheOthers) {
  const std::vector<Flow> flows = {{{0}, 0, 10 * kGb, 1'000'000}, {{0}, 0, 10 * kGb, 1'000'000}};
  const Topology topology = topology_of({1});
  double now_ms = 0;
  bool dies = false;
  FlowQueue queue(flows, topology, [&] {
    if (dies) _exit(0);
    return now_ms;
  });
  queue.start(0);
  now_ms = 0.5;
  const pid_t child = in_child([&] {
    dies = true;
    queue.start(1);
  });
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  queue.start(1);
  EXPECT_NEAR(queue.next_change_ms(), 0.5, 1e-6);  // the latency of none is over
  queue.advance();
  EXPECT_NEAR(queue.next_change_ms(), 1.5, 1e-6);  // half of it at half the rate
  now_ms = 1.5;
  queue.advance();
  EXPECT_EQ(queue.ended(0), 1u);
  EXPECT_NEAR(queue.next_change_ms(), 2, 1e-6);
  now_ms = 2;
  queue.advance();
  EXPECT_EQ(queue.ended(1), 1u);
}

TEST(FlowQueue, ARankThatIsKilledWhileItWaitsHoldsNobodyUp) {
  const std::vector<Flow> flows = {{{}, 1e7, 0, 0}, {{}, 1, 0, 0}};
  const Topology topology = topology_of({1});
  FlowQueue queue(flows, topology);
  queue.start(0);
  for (int round = 0; round < 5; ++round) {
    const pid_t child = in_child([&] { queue.wait(0); });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // it waits by now, or soon
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    for (int start = 0; start < 3; ++start) {
      queue.start(1);
      queue.wait(1);
    }
    EXPECT_EQ(queue.ended(1), 3u * (round + 1));
  }
  EXPECT_EQ(queue.ended(0), 0u);
}

TEST(FlowQueue, AWaitEndsWhereItIsStopped) {
  const std::vector<Flow> flows = {{{}, 1e7, 0, 0}};
  const Topology topology = topology_of({1});
  FlowQueue queue(flows, topology);
  queue.start(0);
  std::atomic<bool> stop{false};
  std::thread waits([&] { queue.wait(0, &stop); });
  stop = true;
  waits.join();
  EXPECT_EQ(queue.ended(0), 0u);
}

TEST(FlowQueue, RanksMeetWhenTheLastComes) {
  constexpr std::size_t kRanks = 3, kMeetings = 100;
  const std::vector<Flow> flows;
  const Topology topology = topology_of({1});
  FlowQueue made(flows, topology);
  std::atomic<std::size_t> came{0};
  std::vector<std::thread> ranks;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    ranks.emplace_back([&] {
      FlowQueue queue(flows, topology, made.name());
      for (std::size_t meeting = 1; meeting <= kMeetings; ++meeting) {
        ++came;
        queue.meet(kRanks, 1e9);
        EXPECT_GE(came, kRanks * meeting);
      }
    });
  }
  for (std::thread& rank : ranks) rank.join();
}

TEST(FlowQueue, AMeetingGoesOnWithoutARankThatNeverComes) {
  const std::vector<Flow> flows;
  const Topology topology = topology_of({1});
  FlowQueue queue(flows, topology);
  const double before_ms = queue.now_ms();
  queue.meet(2, 2);
  EXPECT_GE(queue.now_ms(), before_ms + 2);
}

std::vector<double> simulated_ends(const std::vector<Flow>& flows, const Topology& topology,
                                   const std::vector<double>& starts) {
  Flows simulated(topology.buses());
  std::vector<std::vector<BusId>> over;
  for (const Flow& flow : flows) {
    over.emplace_back();
    for (const std::size_t bus : flow.buses) over.back().emplace_back(bus);
  }
  std::vector<double> ends(flows.size(), -1);
  std::size_t next = 0;
  while (next < flows.size() || !simulated.empty()) {
    const double start_ms = next < flows.size() ? starts[next] : 1e9;
    const double now_ms = std::min(start_ms, simulated.next_change_ms());
    for (const std::size_t flow : simulated.advance(now_ms)) ends[flow] = now_ms;
    if (now_ms < start_ms) continue;
    const Flow& flow = flows[next];
    simulated.start({over[next], flow.latency_ms, flow.most_bytes_per_ms / kGb,
                     static_cast<double>(flow.size_bytes)});
    ++next;
  }
  return ends;
}

TEST(FlowQueue, AgreesWithTheSimulatorOnRandomFlows) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    std::vector<double> buses;
    for (std::size_t b = 0; b < 4; ++b) buses.push_back(0.5 + random.uniform());
    std::vector<Flow> flows;
    std::vector<double> starts;
    double at_ms = 0;
    for (std::size_t f = 0; f < 12; ++f) {
      Flow flow{{},
                random.uniform(),
                (0.1 + random.uniform()) * kGb,
                static_cast<Bytes>(random.uniform() * 2e6)};
      for (std::size_t b = 0; b < buses.size(); ++b) {
        if (random.uniform() < 0.5) flow.buses.push_back(b);
      }
      flows.push_back(flow);
      starts.push_back(at_ms += random.uniform());
    }
    TimedQueue timed(flows, buses);
    std::vector<double> ends(flows.size(), -1);
    for (std::size_t f = 0; f < flows.size(); ++f) {
      while (timed.queue.next_change_ms() < starts[f]) {
        timed.now_ms = timed.queue.next_change_ms();
        timed.note(ends);
      }
      timed.start(f, starts[f]);
      timed.note(ends);
    }
    const std::vector<double> late = timed.ends();
    const std::vector<double> expected = simulated_ends(flows, timed.topology, starts);
    for (std::size_t f = 0; f < flows.size(); ++f) {
      EXPECT_NEAR(ends[f] < 0 ? late[f] : ends[f], expected[f], 1e-5) << "flow " << f;
    }
  }
}

}  // namespace
}  // namespace hios::emulated
