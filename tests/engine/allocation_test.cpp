// The timed loop allocates nothing of ours: this program counts every operator new of
// the process while executors run, and so stands alone.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstdlib>
#include <new>

#include "engine/executor.h"
#include "hios/models/models.h"
#include "support/random_network.h"
#include "support/thread_transport.h"

namespace {

std::atomic<bool> counting = false;
std::atomic<std::size_t> allocations = 0;

void* counted(std::size_t size, std::size_t alignment) {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1);
  const std::size_t whole = (size + alignment - 1) / alignment * alignment;
  if (void* memory = std::aligned_alloc(alignment, whole == 0 ? alignment : whole)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return counted(size, alignof(std::max_align_t)); }
void* operator new[](std::size_t size) { return counted(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
// Standard algorithms ask for scratch space by the non-throwing form.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return counted(size, alignof(std::max_align_t));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace hios {
namespace {

// Allocations of all ranks together in three iterations.
std::size_t allocations_of(const Model& model, const CoarseGraph& coarse, const Schedule& schedule,
                           std::string_view backend_name, int threads) {
  const std::size_t ranks = schedule.devices.size();
  std::barrier together(static_cast<std::ptrdiff_t>(ranks));
  allocations = 0;
  test::run_ranks(ranks, [&](mpi::Transport& transport) {
    const RankPlan plan = plan_rank(coarse, schedule, transport.rank());
    const auto backend = find_backend(backend_name).make({threads, {}});
    SeededSource source(1);
    Executor executor(coarse, model, plan, *backend, transport, source);
    executor.record_stages(true);
    executor.run_once();  // not counted: what a library does on its first call
    together.arrive_and_wait();
    counting = true;
    together.arrive_and_wait();
    for (int i = 0; i < 3; ++i) executor.run_once();
    together.arrive_and_wait();
    counting = false;
    together.arrive_and_wait();
  });
  return allocations;
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
    EXPECT_EQ(allocations_of(model, coarse, schedule, "reference", 2), 0u) << ranks << " ranks";
  }
}

}  // namespace
}  // namespace hios
