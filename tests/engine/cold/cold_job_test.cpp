// Whole jobs of cold starts on the CPU's backend: walls, waits, verification and stop requests.
#include <gtest/gtest.h>

#include "engine/job/run_job.h"
#include "engine/job/small_job.h"
#include "support/schema.h"
#include "support/transports/thread_transport.h"

namespace hios::job {
namespace {

/// A random schedule whose ranks load all their parameters, but for the first, which are resident.
/// Each rank loads through the next one, and evicts what it has used.
RunInputs cold_inputs(std::size_t ranks, std::uint64_t seed) {
  RunInputs inputs = inputs_for(Network(small_model()), Names(ranks, "cpu"), seed);
  const Graph& graph = inputs.network.coarse.graph;
  inputs.schedule.objective = Objective::kColdStart;
  inputs.schedule.stores = {{"dram", "", StoreKind::kMemory}};
  Weights weights;
  bool first = true;
  for (std::size_t d = 0; d < ranks; ++d) {
    Lane lane;
    for (const Stage& stage : inputs.schedule.schedule.devices[d]) {
      for (const Group& group : stage.groups) {
        for (const OpId op : group) {
          if (graph.op(op).parameter_bytes == 0) continue;
          if (first) {
            weights.resident.push_back({op, DeviceId(d)});
          } else if (ranks == 1) {
            lane.push_back({op, StoreId(0), DeviceId(d)});
          } else {
            const DeviceId next((d + 1) % ranks);
            lane.push_back({op, StoreId(0), next});
            lane.push_back({op, next, DeviceId(d)});
          }
          weights.evictions.push_back({op, DeviceId(d), op});
          first = false;
        }
      }
    }
    weights.lanes.push_back(lane);
  }
  inputs.schedule.schedule.weights = std::move(weights);
  return inputs;
}

RunOptions cold_options(Verify verify) {
  RunOptions options = options_with({"cpu"});
  options.verify = verify;
  return options;
}

TEST(ColdJob, VerifiesWhatItLoadedAndMeasuresBothWalls) {
  for (std::size_t ranks = 1; ranks <= 3; ++ranks) {
    for (const Verify verify : {Verify::kOutputs, Verify::kOperators}) {
      SCOPED_TRACE(ranks);
      const RunInputs inputs = cold_inputs(ranks, 31 + ranks);
      test::run_ranks(ranks, [&](mpi::Transport& transport) {
        const RunOptions options = cold_options(verify);
        Watch watch(transport, 0);
        RunJob job(watch, inputs, options);
        const RunResults results = job.run();
        ASSERT_TRUE(results.verified);
        EXPECT_TRUE(results.verified->passed());
        EXPECT_TRUE(results.verified->bitwise()) << results.verified->first_unequal;
        ASSERT_TRUE(results.cold_walls);
        EXPECT_EQ(results.cold_walls->resident_ms.size(), 3u);
        EXPECT_EQ(results.cold_walls->load_ms.size(), 3u);
        EXPECT_GT(results.cold_walls->perfect_overlap_ms(), 0);
        std::size_t loads = 0;
        for (const Lane& lane : inputs.schedule.schedule.weights->lanes) loads += lane.size();
        EXPECT_EQ(results.measured->loads.size(), loads);
        ASSERT_TRUE(results.waits);
        for (const DeviceTimes& rank : results.waits->ranks) {
          EXPECT_NEAR(rank.busy_ms + rank.waiting_ms() + rank.idle_ms, results.waits->latency_ms,
                      1e-6);
          for (const LoadWait& wait : rank.load_waits) EXPECT_GT(wait.ms, 0);
        }
        const Report report = make_report(inputs, options, job.setup(), results);
        test::expect_meets_schema(to_json(report, inputs.network.coarse.graph));
      });
    }
  }
}

// Rank 1 alone gets a stop request at each moment of a job, those of the walls included.
TEST(ColdJob, StoppedAnywhereItKeepsWhatItMeasured) {
  const RunInputs inputs = cold_inputs(2, 5);
  bool whole = false, without_walls = false;
  for (int stop_at = 1; !whole; ++stop_at) {
    SCOPED_TRACE(stop_at);
    ASSERT_LT(stop_at, 100);
    test::run_ranks(2, [&](mpi::Transport& transport) {
      RunOptions options = cold_options(Verify::kOutputs);
      int asked = 0;
      options.protocol.stop = [&] { return transport.rank() == Rank(1) && ++asked >= stop_at; };
      Watch watch(transport, 0);
      const RunResults results = RunJob(watch, inputs, options).run();
      EXPECT_LE(results.iterations_ms.size(), 3u);
      if (results.verified) {
        EXPECT_TRUE(results.verified->bitwise());
      }
      if (transport.rank() != Rank(0)) return;
      without_walls = without_walls || !results.cold_walls;
      whole = !results.stopped;
    });
  }
  EXPECT_TRUE(without_walls);
}

}  // namespace
}  // namespace hios::job
