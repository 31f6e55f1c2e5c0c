// The timed loop allocates nothing in our code: this program counts every operator new of the
// process while executors run, and so has no other tests.
#include <gtest/gtest.h>
#include <malloc.h>

#include <barrier>

#include "engine/backends.h"
#include "engine/run/executor.h"
#include "engine/run/pipeline.h"
#include "hios/flight/recorder.h"
#include "hios/model/networks/networks.h"
#include "mpi/session/heartbeat_transport.h"
#include "support/fakes/fake_async_backend.h"
#include "support/networks/random_network.h"
#include "support/programs/count_allocations.h"
#include "support/transports/device_ranks.h"
#include "support/transports/thread_transport.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
extern "C" std::size_t
__sanitizer_get_current_allocated_bytes();  // GCC 12 installs no header of it
#endif

namespace hios {
namespace {

using test::allocations;
using test::counting;

/// Counts while all ranks together run four iterations, two of them with the stages' clocks.
void count_iterations(Executor& executor, std::barrier<>& together) {
  for (const bool clocks :
       {true, false}) {  // not counted: a library's allocations in its first call
    executor.record_stages(clocks);
    executor.run_once();
    together.arrive_and_wait();
  }
  counting = true;
  together.arrive_and_wait();
  for (int i = 0; i < 4; ++i) {
    executor.record_stages(i < 2);
    executor.run_once();
    together.arrive_and_wait();  // a device needs it between iterations
  }
  counting = false;
  together.arrive_and_wait();
}

/// Returns the allocations of all ranks together.
std::size_t allocations_of(const Model& model, const CoarseGraph& coarse, const Schedule& schedule,
                           std::string_view backend_name, int threads, bool any_order = false) {
  const std::size_t ranks = schedule.devices.size();
  std::barrier together(static_cast<std::ptrdiff_t>(ranks));
  allocations = 0;
  test::run_ranks(ranks, [&](mpi::Transport& transport) {
    const RankPlan plan = plan_rank(coarse, schedule, transport.rank(), {.any_order = any_order});
    const auto backend = find_backend(backend_name).make({threads, {}});
    SeededSource source(1);
    flight::Recorder recorder;  // its notes must allocate nothing either
    mpi::HeartbeatTransport noted(transport, &recorder);
    Executor executor({coarse, model, *backend, noted, source}, plan);
    count_iterations(executor, together);
  });
  return allocations;
}

std::size_t allocations_on_devices(const test::RandomNetwork& network, const Schedule& schedule,
                                   const test::RouteCase& routes, bool records) {
  const std::size_t ranks = schedule.devices.size();
  std::barrier together(static_cast<std::ptrdiff_t>(ranks));
  allocations = 0;
  test::run_device_ranks(
      ranks, {routes}, [&](mpi::Transport& transport, test::FakeAccelerator* device) {
        const RankPlan plan = plan_rank(network.coarse, schedule, transport.rank());
        std::unique_ptr<test::FakeBackend> backend = std::make_unique<test::FakeBackend>(2);
        if (device != nullptr) backend = std::make_unique<test::FakeAsyncBackend>(*device, records);
        backend->ran.reserve(1 << 16);  // the fake's own notes
        backend->with_parameters = schedule.weights.has_value();
        test::FakeSource source;
        Executor executor({network.coarse, network.model, *backend, transport, source}, plan);
        count_iterations(executor, together);
        executor.close();
      });
  return allocations;
}

/// Returns the allocations of all ranks together in a run of many inferences in flight.
std::size_t allocations_in_flight(const test::RandomNetwork& network, const Schedule& schedule,
                                  const test::RouteCase& routes, std::size_t in_flight) {
  const std::size_t ranks = schedule.devices.size();
  std::barrier together(static_cast<std::ptrdiff_t>(ranks));
  allocations = 0;
  test::run_device_ranks(
      ranks, {routes}, [&](mpi::Transport& transport, test::FakeAccelerator* device) {
        const RankPlan plan = plan_rank(network.coarse, schedule, transport.rank(),
                                        {.in_flight = in_flight, .inputs = in_flight + 1});
        std::unique_ptr<test::FakeBackend> backend = std::make_unique<test::FakeBackend>(2);
        if (device != nullptr) backend = std::make_unique<test::FakeAsyncBackend>(*device, true);
        backend->ran.reserve(1 << 16);  // the fake's own notes
        test::FakeSource source;
        flight::Recorder recorder;
        mpi::HeartbeatTransport noted(transport, &recorder);
        Pipeline pipeline({network.coarse, network.model, *backend, noted, source}, plan,
                          {.traced = 2});
        std::vector<InferenceTimes> times(20);
        pipeline.run(times);  // not counted: a library's allocations in its first call
        together.arrive_and_wait();
        counting = true;
        together.arrive_and_wait();
        pipeline.run(times);
        together.arrive_and_wait();
        counting = false;
        together.arrive_and_wait();
        pipeline.close();
      });
  return allocations;
}

TEST(Allocation, NoneWithManyInferencesInFlight) {
  const test::RandomNetwork network = test::random_network(20, 4);
  std::vector<test::RouteCase> cases = test::device_route_cases();
  cases.push_back(test::route_case("host"));
  for (const test::RouteCase& routes : cases) {
    for (const std::size_t in_flight : {1, 3}) {
      const Schedule schedule = test::random_schedule(network.coarse.graph, 3, 2, 7);
      EXPECT_EQ(allocations_in_flight(network, schedule, routes, in_flight), 0u)
          << routes << ", " << in_flight << " in flight";
    }
  }
}

// The libraries of this backend allocate, with and without loads.
TEST(Allocation, LoadsAddNone) {
  if (!find_backend("cpu").make) GTEST_SKIP() << "this build has no backend that loads parameters";
  const Model model = models::squeezenet(1, 48, 48);
  const CoarseGraph coarse = coarsen(model);
  Schedule schedule = test::random_schedule(coarse.graph, 2, 1, 3);
  const std::size_t resident = allocations_of(model, coarse, schedule, "cpu", 1);
  schedule.weights.emplace().lanes.resize(2);
  for (std::size_t d = 0; d < 2; ++d) {
    for (const Stage& stage : schedule.devices[d]) {
      const OpId op = stage.groups.front().front();
      if (coarse.graph.op(op).parameter_bytes == 0) continue;
      // All but the first come through the other rank, which then evicts them.
      Lane& lane = schedule.weights->lanes[d];
      const DeviceId here(d), other(1 - d);
      const bool through = !lane.empty();
      lane.push_back({op, StoreId(0), through ? other : here});
      if (!through) continue;
      lane.push_back({op, other, here});
      schedule.weights->evictions.push_back(
          {op, other, schedule.devices[other.index()].back().groups.front().front()});
    }
  }
  for (const bool any_order : {false, true}) {
    EXPECT_EQ(allocations_of(model, coarse, schedule, "cpu", 1, any_order), resident)
        << "any order: " << any_order;
  }
}

TEST(Allocation, TheCounterCounts) {
  allocations = 0;
  counting = true;
  const auto before = std::make_unique<int>(1);
  const std::vector<double> more(100);
  counting = false;
  EXPECT_EQ(allocations, 2u);
}

TEST(Allocation, NoneInTheTimedLoopWithTheReferenceBackend) {
  const Model model = models::squeezenet(1, 64, 64);
  const CoarseGraph coarse = coarsen(model);
  for (const std::size_t ranks : {1, 2, 3}) {
    const Schedule schedule = test::random_schedule(coarse.graph, ranks, 2, 7);
    for (const bool any_order : {false, true}) {
      EXPECT_EQ(allocations_of(model, coarse, schedule, "reference", 2, any_order), 0u)
          << ranks << " ranks, any order: " << any_order;
    }
  }
}

TEST(Allocation, NoneInTheTimedLoopOnDevices) {
  const test::RandomNetwork network = test::random_network(20, 4);
  std::vector<test::RouteCase> cases = test::device_route_cases();
  cases.push_back(test::route_case("host"));
  for (const test::RouteCase& routes : cases) {
    for (const std::size_t ranks : {1, 3}) {
      const Schedule schedule = test::random_schedule(network.coarse.graph, ranks, 2, 7);
      for (const bool records : {true, false}) {
        EXPECT_EQ(allocations_on_devices(network, schedule, routes, records), 0u)
            << routes << ", " << ranks << " ranks, records " << records;
      }
    }
  }
}

// On more than one rank, each loads through the next, and loads begin when batons come.
TEST(Allocation, NoneInColdStartsOnDevices) {
  const test::RandomNetwork network = test::with_parameters(test::random_network(12, 4));
  for (const test::RouteCase& routes : test::device_route_cases()) {
    for (const std::size_t ranks : {1, 2}) {
      Schedule schedule = test::random_schedule(network.coarse.graph, ranks, 2, 7);
      schedule.weights.emplace().lanes.resize(ranks);
      for (std::size_t d = 0; d < ranks; ++d) {
        for (const Stage& stage : schedule.devices[d]) {
          for (const Group& group : stage.groups) {
            for (const OpId op : group) {
              Lane& lane = schedule.weights->lanes[d];
              const DeviceId here(d), next((d + 1) % ranks);
              lane.push_back({op, StoreId(0), next});
              if (next != here) lane.push_back({op, next, here});
            }
          }
        }
      }
      for (const bool records : {true, false}) {
        EXPECT_EQ(allocations_on_devices(network, schedule, routes, records), 0u)
            << routes << ", " << ranks << " ranks, records " << records;
      }
    }
  }
}

/// The bytes of the heap, by its own count. A sanitizer has its own heap; the C library's is not
/// initialised then, and reading its count from a thread reads a null pointer.
std::ptrdiff_t heap_bytes() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return static_cast<std::ptrdiff_t>(__sanitizer_get_current_allocated_bytes());
#else
  return static_cast<std::ptrdiff_t>(mallinfo2().uordblks);
#endif
}

/// The memory that is still allocated after 10,000 iterations.
struct Growth {
  std::ptrdiff_t live;   ///< allocations that were not freed
  std::ptrdiff_t bytes;  ///< bytes of the heap
};

Growth growth_of(const test::RandomNetwork& network, const Schedule& schedule) {
  const std::size_t ranks = schedule.devices.size();
  constexpr int kIterations = 10'000;
  std::barrier together(static_cast<std::ptrdiff_t>(ranks));
  Growth growth{};
  test::run_ranks(ranks, [&](mpi::Transport& transport) {
    const RankPlan plan = plan_rank(network.coarse, schedule, transport.rank());
    const auto backend = find_backend("reference").make({1, {}});
    SeededSource source(1);
    Executor executor({network.coarse, network.model, *backend, transport, source}, plan);
    const auto iterate = [&](int count) {
      for (int i = 0; i < count; ++i) {
        executor.run_once();
        together.arrive_and_wait();
      }
    };
    iterate(10);
    const bool first = transport.rank() == Rank(0);
    const std::ptrdiff_t live = test::live_allocations;
    const std::ptrdiff_t heap = heap_bytes();
    together.arrive_and_wait();
    iterate(kIterations);
    if (first) growth = {test::live_allocations - live, heap_bytes() - heap};
    together.arrive_and_wait();
  });
  return growth;
}

TEST(Allocation, TenThousandIterationsLeakNothing) {
  const test::RandomNetwork network = test::random_network(6, 4);
  const Growth growth = growth_of(network, test::random_schedule(network.coarse.graph, 2, 2, 7));
  EXPECT_EQ(growth.live, 0);
  EXPECT_LT(growth.bytes, 4096) << "less than a byte an iteration";
}

TEST(Allocation, TheCounterOfLiveAllocationsCounts) {
  const std::ptrdiff_t before = test::live_allocations;
  auto held = std::make_unique<int>(1);
  EXPECT_EQ(test::live_allocations, before + 1);
  held.reset();
  EXPECT_EQ(test::live_allocations, before);
}

TEST(Allocation, OneCanBeRefused) {
  test::allocations = 0;
  test::refused = 2;
  test::counting = true;
  // The pointer is visible outside: a compiler may remove unused allocations.
  [[maybe_unused]] int* volatile seen = nullptr;
  const auto first = std::make_unique<int>(1);
  seen = first.get();
  bool thrown = false;
  try {
    const auto second = std::make_unique<int>(2);
    seen = second.get();
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  const auto third = std::make_unique<int>(3);
  seen = third.get();
  test::counting = false;
  test::refused = 0;
  EXPECT_TRUE(thrown);
}

}  // namespace
}  // namespace hios
