// Cold starts whose stages run in any order: the bits of parameters that were there, and stages
// that overtake one whose parameters are late.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "engine/cold/cold_networks.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/run/executor.h"
#include "hios/graph/fusion/coarsen.h"
#include "support/transports/thread_transport.h"

namespace hios {
namespace {

TEST(ReadyColdStart, GivesTheBitsOfParametersThatWereThere) {
  const test::ColdNetwork net;
  test::ExchangeCounts counts;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::size_t ranks = 1 + seed % 4;
    const bool own_loads = ranks == 1 || seed % 5 == 4;
    const Graph& graph = net.coarse.graph;
    const Schedule schedule = own_loads ? test::schedule_of_own_loads(graph, ranks, seed)
                                        : test::schedule_of_all_kinds(graph, ranks, seed);
    test::expect_resident_bits(net, schedule, seed, {.any_order = true}, counts);
  }
  EXPECT_GT(counts.sends, 0u);
  EXPECT_GT(counts.evictions, 0u);
  EXPECT_GT(counts.reports, 0u) << "no loads that all come first";
}

/// A pace that holds the only load of lane 1 back until the rank waits for nothing else.
class HeldLoad final : public LoadPace {
 public:
  std::atomic<const Executor*> executor = nullptr;
  std::string text;  // of the rank that waits

  void load(std::size_t lane, std::size_t, const std::atomic<bool>& stop) override {
    while (lane == 1 && !stop) {
      text = executor.load()->current_step();
      if (text.starts_with("waiting for load") && text.find("other") == std::string::npos) return;
      std::this_thread::yield();
    }
  }
  void idle() override { std::this_thread::yield(); }
  void all_loaded(bool) override {}
};

TEST(ReadyColdStart, AStageWhoseParametersAreLateIsOvertaken) {
  ModelBuilder b("branches", {1, 3, 8, 8});
  const Conv conv{4, {1, 1}, {1, 1}, {0, 0}};
  const TensorId late = b.conv("late", b.input(), conv), early = b.conv("early", b.input(), conv);
  const Model model = std::move(b).build();
  const CoarseGraph coarse = coarsen(model);
  const std::vector<OpId> ops = {*coarse.producer(late), *coarse.producer(early)};
  Schedule schedule{{one_operator_stages(ops)}};
  schedule.weights.emplace().lanes = {{{ops[1], StoreId(0), DeviceId(0)}},
                                      {{ops[0], StoreId(0), DeviceId(0)}}};
  test::run_ranks(1, [&](mpi::Transport& transport) {
    const auto backend = test::cpu_backend(1);
    SeededSource source(7);
    const RankPlan plan = plan_rank(coarse, schedule, Rank(0), {.any_order = true});
    HeldLoad pace;
    LoadOptions loads;
    loads.pace = &pace;
    Executor executor({coarse, model, *backend, transport, source}, plan, {.loads = loads});
    pace.executor = &executor;
    executor.record_stages(true);
    executor.run_once();
    const auto& stages = executor.clocks().stages;
    EXPECT_LE(stages[1].end_ms, stages[0].start_ms);
    EXPECT_EQ(pace.text.find("waiting for load 0 of lane 1, the parameters of " +
                             coarse.graph.op(ops[0]).name),
              0u)
        << pace.text;
    const auto waits = executor.timeline().load_waits;
    ASSERT_FALSE(waits.empty());
    EXPECT_EQ(waits.front().of, ops[0]);
  });
}

}  // namespace
}  // namespace hios
