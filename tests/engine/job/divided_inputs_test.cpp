// Operators that run some of the inputs at a time, on ranks as threads.
#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "engine/job/divided_job.h"

namespace hios::job {
namespace {

TEST(DividedInputs, GiveBitForBitWhatOneRankGivesAndTheWholeNetworkGives) {
  const SizedNetworks networks = all_sizes();
  RunOptions options = options_with({"reference"});
  const auto whole = outputs_of(inputs_for(networks.whole(), Names(1, "cpu"), 1), options, 1);
  ASSERT_EQ(whole.size(), 2u);
  options.verify = Verify::kOperators;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "batches");
    const std::size_t ranks = 1 + seed % 4;
    const RunInputs inputs =
        inputs_for(networks.divide(test::random_batches(networks.graphs(), random)),
                   Names(ranks, "cpu"), seed);
    EXPECT_EQ(outputs_of(inputs, options, ranks), whole) << "the reference sums in one order";
  }
}

TEST(DividedInputs, StagesInAnyOrderGiveTheSame) {
  const SizedNetworks networks = all_sizes();
  RunOptions options = options_with({"reference"});
  const auto whole = outputs_of(inputs_for(networks.whole(), Names(1, "cpu"), 1), options, 1);
  options.any_order = true;
  options.verify = Verify::kOperators;
  for (std::uint64_t seed = 50; seed < 66; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "batches");
    const std::size_t ranks = 1 + seed % 4;
    const RunInputs inputs =
        inputs_for(networks.divide(test::random_batches(networks.graphs(), random)),
                   Names(ranks, "cpu"), seed);
    EXPECT_EQ(outputs_of(inputs, options, ranks), whole);
  }
}

/// The executor's outputs after a run, by operator and input.
std::map<std::pair<OpId, std::int64_t>, std::vector<float>> made_by(const RunInputs& inputs,
                                                                    const Names& names) {
  std::map<std::pair<OpId, std::int64_t>, std::vector<float>> made;
  std::mutex mutex;
  test::run_fake_job({.backends = names}, [&](mpi::Transport& transport) {
    const RunResults results =
        run(transport, inputs, options_with(names, test::fake_backends()), 0);
    const std::lock_guard lock(mutex);
    for (const auto& [op, values] : results.outputs) {
      const auto [whole, range] = inputs.network.coarse.graph.batch(op);
      EXPECT_TRUE(made.emplace(std::pair(whole, range.begin), values).second);
    }
  });
  return made;
}

TEST(DividedInputs, OnFakeDevicesAsOnOneRank) {
  const SizedNetworks networks = all_sizes();
  const std::vector<std::pair<Names, Names>> jobs = {
      {{"cpu", "cpu", "cpu"}, {"fake", "fake", "fake"}},
      {{"gpu", "gpu"}, {"fake-device", "fake-device"}},
      {{"gpu", "cpu", "gpu"}, {"fake-device", "fake", "fake-device"}},
  };
  for (const auto& [kinds, names] : jobs) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      SCOPED_TRACE(testing::PrintToString(names) + ", seed " + std::to_string(seed));
      Random random(seed, "batches");
      const Network divided = networks.divide(test::random_batches(networks.graphs(), random));
      const auto one = made_by(inputs_for(divided, {"cpu"}, seed), {"fake"});
      EXPECT_EQ(made_by(inputs_for(divided, kinds, seed), names), one);
    }
  }
}

TEST(DividedInputs, AMessageCarriesWhatItsReceiverReads) {
  const SizedNetworks networks = all_sizes();
  const Graph& whole = networks.whole().coarse.graph;
  const auto stem = whole.find("conv_1");
  ASSERT_TRUE(stem);
  std::vector<Batch> batches = even_batches(whole, kInputs, 3);
  std::erase_if(batches, [&](const Batch& batch) { return batch.op == *stem; });
  batches.push_back({*stem, {0, kInputs}});
  const CoarseGraph coarse = networks.divide(batches).coarse;
  // All of the first device's operators, except those that run the last inputs.
  Schedule schedule;
  schedule.devices.resize(2);
  for (const OpId op : coarse.graph.topological()) {
    const bool last = coarse.graph.batch(op).inputs == InputRange{4, 6};
    schedule.devices[last ? 1 : 0].push_back({{{op}}});
  }
  const RankPlan plan = plan_rank(coarse, schedule, Rank(1));
  ASSERT_EQ(plan.receives.size(), 1u);
  const Bytes whole_bytes = coarse.graph.op(plan.receives[0].op).memory_bytes;
  EXPECT_EQ(plan.receives[0].bytes, (ByteRange{whole_bytes / 3 * 2, whole_bytes}));
  const RankPlan sender = plan_rank(coarse, schedule, Rank(0));
  ASSERT_EQ(sender.sends.size(), 1u);
  EXPECT_EQ(sender.sends[0].bytes, plan.receives[0].bytes);
  EXPECT_EQ(sender.sends[0].tag, plan.receives[0].tag);
}

}  // namespace
}  // namespace hios::job
