#include "support/networks/as_alone.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "engine/job/verification.h"
#include "engine/run/executor.h"
#include "mpi/exchange.h"
#include "mpi/shared/shared_arena.h"
#include "support/fakes/fake_backend.h"

namespace hios::test {
namespace {

// `expected`: a tensor of the graph, whose elements may be halves.
bool equal(const std::vector<float>& values, const std::vector<std::byte>& expected,
           const CoarseGraph& coarse) {
  return job::compare(values, as_floats(expected, arithmetic_of(coarse)), {}).bitwise;
}

}  // namespace

std::vector<std::vector<std::byte>> computed_alone(const RandomNetwork& network) {
  FakeBackend oracle;
  oracle.arithmetic = arithmetic_of(network.coarse);
  FakeSource source;
  return evaluate_alone(network.coarse, network.model, oracle, source);
}

void expect_outputs(const Executor& executor, const RankPlan& plan, const RandomNetwork& network,
                    const PlanOptions& options, const std::vector<std::vector<std::byte>>& expected,
                    int iteration) {
  for (const Slot& slot : plan.slots) {
    if (!options.keep_all && !network.coarse.graph.out_edges(slot.op).empty()) continue;
    EXPECT_TRUE(equal(executor.output(slot.op), expected[slot.op.index()], network.coarse))
        << network.coarse.graph.op(slot.op).name << " on rank " << plan.rank.index()
        << " in iteration " << iteration;
  }
}

void expect_as_alone(mpi::Transport& transport, const RandomNetwork& network,
                     const Schedule& schedule, const PlanOptions& options, std::uint64_t seed,
                     const std::vector<std::vector<std::byte>>& expected) {
  const RankPlan plan = plan_rank(network.coarse, schedule, transport.rank(), options);
  FakeBackend backend(2, seed + transport.rank().index());
  backend.arithmetic = arithmetic_of(network.coarse);
  FakeSource mine;
  const auto arena = mpi::open_shared_arena(transport, options.sharers, plan.shared_bytes);
  // Where ranks are threads, all use the first one's address: the thread sanitizer knows no other.
  const auto addresses =
      mpi::gather(transport, reinterpret_cast<std::uintptr_t>(arena ? arena->data() : nullptr));
  std::byte* const shared =
      arena ? reinterpret_cast<std::byte*>(addresses[options.sharers[transport.rank().index()]])
            : nullptr;
  Executor executor({network.coarse, network.model, backend, transport, mine, shared}, plan);
  for (int iteration = 0; iteration < 3; ++iteration) {
    backend.poison_tensors();
    transport.barrier();  // all have read the outputs of the iteration before
    if (shared != nullptr &&
        options.sharers[transport.rank().index()] == transport.rank().index()) {
      std::memset(shared, 0xff, plan.shared_bytes);  // no number
    }
    transport.barrier();
    executor.run_once();
    expect_outputs(executor, plan, network, options, expected, iteration);
  }
  transport.barrier();  // the first one's arena is there until all have read it
}

}  // namespace hios::test
