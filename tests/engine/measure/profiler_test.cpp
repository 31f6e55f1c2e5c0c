#include "engine/measure/profiler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/host/clock.h"
#include "engine/measure/stages/stage_batch.h"
#include "engine/measure/sweep_times.h"
#include "engine/measure/transfers/transfer_times.h"
#include "hios/base/error.h"
#include "hios/base/numbers/statistics.h"
#include "hios/evaluate/cost_model.h"

#include "engine/measure/short_profiles.h"
#include "hios/profile/profile_json.h"
#include "mpi/messages/serial.h"
#include "support/fakes/fake_backend.h"
#include "support/fakes/fake_disturbance.h"
#include "support/networks/random_network.h"
#include "support/transports/thread_transport.h"

namespace hios {
namespace {

using test::FakeBackend;
using test::FakeSource;
using test::independent_pairs;
using test::kShort;
using test::random_network;
using test::RandomNetwork;
using test::run_ranks;

// The backend, source and profiler of a rank.
struct Rig {
  Rig(const RandomNetwork& network, mpi::Transport& transport, const Protocol& protocol = kShort)
      : profiler({network.coarse, network.model, backend, transport, source}, protocol) {}
  FakeBackend backend{2};
  FakeSource source;
  Profiler profiler;
};

// Every rank's configuration, compared after the ranks have ended.
class Collected {
 public:
  void add(const Configuration& configuration) {
    const std::lock_guard lock(mutex_);
    texts_.insert(to_json(Profile{{configuration}}).dump());
  }
  void expect_alike() const { EXPECT_EQ(texts_.size(), 1u); }

 private:
  std::mutex mutex_;
  std::set<std::string> texts_;
};

// A small network with a few independent pairs.
RandomNetwork wide_network() { return random_network(12, 11); }

TEST(SweepTimes, AreMergedByTheFastestQuarterOfWholeSweeps) {
  run_ranks(2, [](mpi::Transport& transport) {
    // Eight sweeps, of which 1 and 6 are the fastest. Item 0 occurs once, item 1 twice.
    const std::vector<double> totals = {9, 1, 9, 8, 7, 9, 2, 9};
    const double mine = transport.rank() == Rank(0) ? 0 : 100;
    SweepTimes sweeps(2);
    sweeps.begin_sweep();  // warm-up
    sweeps.add(0, 0.001);
    sweeps.add(1, 0.001);
    for (int k = 0; k < 8; ++k) {
      sweeps.begin_sweep();
      sweeps.add(0, mine + k);
      sweeps.add(1, mine + 10 * k);
      sweeps.add(1, mine + 20 * k);
    }
    sweeps.drop_first(1);
    const std::vector<Measurement> merged =
        sweeps.merge(transport, {totals, {}}, {Rank(0), Rank(1)});
    const std::vector<double> first = {1, 6}, second = {15, 90};
    const double median_first = summarize(first).median;
    const double median_second = summarize(second).median;
    EXPECT_DOUBLE_EQ(merged[0].ms, median_first + 50);  // mean over the two ranks
    EXPECT_DOUBLE_EQ(merged[1].ms, median_second + 50);
    EXPECT_DOUBLE_EQ(merged[0].min_ms, 0);
    EXPECT_EQ(merged[0].samples, 16);
    EXPECT_EQ(merged[1].samples, 32);
  });
}

TEST(Profiler, MeasuresEverySignatureInSweepsOverTheNetwork) {
  const RandomNetwork network = random_network(15, 1);
  Collected collected;
  run_ranks(3, [&](mpi::Transport& transport) {
    Rig rig(network, transport);
    Configuration configuration;
    std::set<std::string> signatures;
    for (const Operator& op : network.coarse.graph.operators()) signatures.insert(op.signature);
    const Measured measured = rig.profiler.measure_operators(configuration);
    EXPECT_EQ(measured.missing, signatures.size());
    EXPECT_EQ(measured.done, signatures.size());

    // The executor's order, sweep after sweep: no operator runs twice in a row.
    std::vector<std::string> expected;
    for (int sweep = 0; sweep < kShort.warmup + kShort.iterations; ++sweep) {
      for (const OpId op : network.coarse.graph.topological()) {
        expected.push_back(network.coarse.graph.op(op).name);
      }
    }
    EXPECT_EQ(rig.backend.ran, expected);

    ASSERT_EQ(configuration.operators.size(), signatures.size());
    std::int64_t samples = 0;
    for (const auto& [signature, measurement] : configuration.operators) {
      EXPECT_TRUE(signatures.contains(signature));
      EXPECT_GT(measurement.min_ms, 0);
      EXPECT_LE(measurement.min_ms, measurement.ms);
      samples += measurement.samples;
    }
    EXPECT_EQ(samples, 3 * kShort.iterations * 15);
    EXPECT_EQ(configuration.ranks, 3u);
    EXPECT_EQ(configuration.threads, 2);
    EXPECT_EQ(configuration.backend, "fake");
    EXPECT_GT(configuration.seconds, 0);
    EXPECT_TRUE(configuration.machine->contains("processor"));
    EXPECT_EQ(configuration.protocol["iterations"], kShort.iterations);
    collected.add(configuration);
  });
  collected.expect_alike();
}

TEST(Profiler, CountsDisturbedSweepsAndReportsSettling) {
  const RandomNetwork network = wide_network();
  for (const bool disturbed : {false, true}) {
    run_ranks(2, [&](mpi::Transport& transport) {
      FakeBackend backend{2};
      FakeSource source;
      // A disturbance of one rank's machine suffices.
      test::FakeDisturbance machine(disturbed && transport.rank() == Rank(1));
      Profiler profiler({network.coarse, network.model, backend, transport, source}, kShort, {},
                        &machine);
      Configuration configuration;
      profiler.measure_operators(configuration);
      profiler.measure_stages(independent_pairs(network.coarse.graph), configuration, 60);
      profiler.measure_transfers(configuration, Bytes{1} << 10);
      for (const char* const what : {"operators", "stages"}) {
        const Json& settling = configuration.protocol["settling"][what];
        EXPECT_EQ(settling["sweeps"], kShort.iterations) << what;
        EXPECT_EQ(settling["disturbed"], disturbed ? kShort.iterations : 0) << what;
        EXPECT_FALSE(settling.contains("settled")) << "four sweeps are too few to say";
      }
    });
  }
}

TEST(Profiler, MeasuresNothingTwice) {
  const RandomNetwork network = wide_network();
  run_ranks(2, [&](mpi::Transport& transport) {
    Configuration configuration;
    const std::vector<Stage> stages = independent_pairs(network.coarse.graph);
    {
      Rig rig(network, transport);
      rig.profiler.measure_operators(configuration);
      rig.profiler.measure_stages(stages, configuration, 60);
      rig.profiler.measure_transfers(configuration);
    }
    const std::string before = to_json(Profile{{configuration}}).dump();
    Rig rig(network, transport);
    EXPECT_EQ(rig.profiler.measure_operators(configuration).missing, 0u);
    EXPECT_EQ(rig.profiler.measure_stages(stages, configuration, 60).missing, 0u);
    EXPECT_EQ(rig.profiler.measure_transfers(configuration).missing, 0u);
    EXPECT_TRUE(rig.backend.ran.empty());
    EXPECT_EQ(to_json(Profile{{configuration}}).dump(), before);
  });
}

TEST(Profiler, MeasuresTensorsInSharedMemoryBetweenRanksThatShareIt) {
  const RandomNetwork network = wide_network();
  run_ranks(3, [&](mpi::Transport& transport) {
    Configuration configuration;
    Rig rig(network, transport);
    const std::vector<std::size_t> sharers = {0, 0, 2};
    constexpr Bytes kLargest = Bytes{1} << 14;
    rig.profiler.measure_transfers(configuration, kLargest);
    EXPECT_EQ(rig.profiler.measure_transfers(configuration, kLargest, sharers).done, 2u)
        << "the copies are known, and both are measured again";
    EXPECT_EQ(rig.profiler.measure_transfers(configuration, kLargest, sharers).missing, 0u);
    for (const TransferCurve& curve : configuration.transfers) {
      const bool shares = curve.from + curve.to == 1;
      ASSERT_EQ(curve.shared.size(), shares ? curve.points.size() : 0);
      for (const auto& [bytes, ms] : curve.shared) EXPECT_GT(ms, 0);
    }
    const Profile profile{{configuration}};
    EXPECT_EQ(profile_from_json(JsonView(to_json(profile), "$")).configurations[0].transfers,
              configuration.transfers);
  });
}

TEST(Profiler, AddsWhatIsMissing) {
  const RandomNetwork network = random_network(15, 1);
  run_ranks(2, [&](mpi::Transport& transport) {
    Rig rig(network, transport);
    Configuration configuration;
    const std::string& known = network.coarse.graph.op(OpId(0)).signature;
    configuration.operators[known] = {123, 122, 1};
    rig.profiler.measure_operators(configuration);
    EXPECT_EQ(configuration.operators.at(known).ms, 123);
    for (const Operator& op : network.coarse.graph.operators()) {
      EXPECT_TRUE(configuration.operators.contains(op.signature)) << op.name;
    }
  });
}

TEST(Profiler, MeasuresStagesOnceAKey) {
  const RandomNetwork network = wide_network();
  const Graph& graph = network.coarse.graph;
  Collected collected;
  run_ranks(2, [&](mpi::Transport& transport) {
    Rig rig(network, transport);
    Configuration configuration;
    std::vector<Stage> asked = independent_pairs(graph);
    ASSERT_GT(asked.size(), 3u);
    std::set<StageKey> keys;
    for (const Stage& stage : asked) keys.insert(stage_key(graph, stage));
    // The same stage with its groups exchanged, and a stage of one group, which costs a sum.
    asked.push_back({{asked[0].groups[1], asked[0].groups[0]}});
    asked.push_back({{{OpId(0)}}});
    const Measured measured = rig.profiler.measure_stages(asked, configuration, 60);
    EXPECT_EQ(measured.missing, keys.size());
    EXPECT_EQ(measured.done, keys.size());
    ASSERT_EQ(configuration.stages.size(), keys.size());
    for (const auto& [key, measurement] : configuration.stages) {
      EXPECT_TRUE(keys.contains(key));
      EXPECT_GT(measurement.ms, 0);
      EXPECT_EQ(measurement.samples, 2 * kShort.iterations);
    }
    collected.add(configuration);
  });
  collected.expect_alike();
}

TEST(Profiler, StopsWithWhatIsWholeWhenTimeIsUp) {
  const RandomNetwork network = wide_network();
  run_ranks(2, [&](mpi::Transport& transport) {
    Rig rig(network, transport);
    Configuration configuration;
    const Measured measured =
        rig.profiler.measure_stages(independent_pairs(network.coarse.graph), configuration, 0);
    EXPECT_GT(measured.missing, 0u);
    EXPECT_EQ(measured.done, 0u);
    EXPECT_TRUE(configuration.stages.empty());
  });
}

TEST(Profiler, RanksMeasureWhatRankZeroMisses) {
  const RandomNetwork network = wide_network();
  run_ranks(2, [&](mpi::Transport& transport) {
    Rig rig(network, transport);
    Configuration configuration;
    // Rank 1 has all times, and asks for no stage.
    std::vector<Stage> stages;
    if (transport.rank() == Rank(0)) {
      stages = independent_pairs(network.coarse.graph);
    } else {
      for (const Operator& op : network.coarse.graph.operators()) {
        configuration.operators[op.signature] = {1, 1, 1};
      }
    }
    EXPECT_GT(rig.profiler.measure_operators(configuration).done, 0u);
    EXPECT_GT(rig.profiler.measure_stages(stages, configuration, 60).done, 0u);
  });
}

TEST(Profiler, TransfersCoverEveryOrderedPair) {
  const RandomNetwork network = random_network(3, 1);
  Collected collected;
  run_ranks(3, [&](mpi::Transport& transport) {
    Rig rig(network, transport);
    Configuration configuration;
    EXPECT_EQ(rig.profiler.measure_transfers(configuration).done, 6u);
    ASSERT_EQ(configuration.transfers.size(), 6u);
    std::size_t next = 0;
    for (std::size_t from = 0; from < 3; ++from) {
      for (std::size_t to = 0; to < 3; ++to) {
        if (from == to) continue;
        const TransferCurve& curve = configuration.transfers[next++];
        EXPECT_EQ(curve.from, from);
        EXPECT_EQ(curve.to, to);
        ASSERT_EQ(curve.points.size(), 15u);
        EXPECT_EQ(curve.points.front().first, 1024u);
        EXPECT_EQ(curve.points.back().first, 16u << 20);
        for (const auto& [size, ms] : curve.points) EXPECT_GT(ms, 0) << size << " bytes";
      }
    }
    collected.add(configuration);
  });
  collected.expect_alike();
}

TEST(Profiler, OneRankHasNoTransfers) {
  const RandomNetwork network = random_network(3, 1);
  run_ranks(1, [&](mpi::Transport& transport) {
    Rig rig(network, transport);
    Configuration configuration;
    EXPECT_EQ(rig.profiler.measure_transfers(configuration).missing, 0u);
    EXPECT_TRUE(configuration.transfers.empty());
  });
}

TEST(Profiler, RefusesWhatTheBackendCannotRun) {
  const RandomNetwork network = random_network(5, 1);
  run_ranks(1, [&](mpi::Transport& transport) {
    FakeBackend backend;
    backend.refused = "op_3";
    FakeSource source;
    EXPECT_THROW(
        Profiler(RankContext{network.coarse, network.model, backend, transport, source}, kShort),
        InputError);
  });
}

TEST(StageBatch, ProducesTheInputsThenRunsTheGroups) {
  const RandomNetwork network = wide_network();
  const Graph& graph = network.coarse.graph;
  const auto name = [&](OpId op) { return graph.op(op).name; };
  for (const Stage& stage : independent_pairs(graph)) {
    FakeBackend backend(2);
    FakeSource source;
    const auto transport = mpi::make_serial_transport();
    StageBatch batch({network.coarse, network.model, backend, *transport, source}, {&stage, 1},
                     1 << 20);
    double ms = 0;
    EXPECT_EQ(batch.sweep({&ms, 1}), ms);
    EXPECT_GT(ms, 0);

    std::set<std::string> expected, produced, run;
    for (const Group& group : stage.groups) {
      for (const EdgeId edge : graph.in_edges(group[0])) {
        expected.insert(name(graph.edge(edge).from));
      }
    }
    ASSERT_EQ(backend.ran.size(), expected.size() + 2);
    const auto middle = backend.ran.end() - 2;
    produced.insert(backend.ran.begin(), middle);
    run.insert(middle, backend.ran.end());
    EXPECT_EQ(produced, expected);
    EXPECT_EQ(run, (std::set{name(stage.groups[0][0]), name(stage.groups[1][0])}));
    // Producers have all cores, groups their share.
    for (const auto& [op, share] : backend.bound) {
      EXPECT_EQ(share.threads, run.contains(op) ? 1 : 2) << op;
    }
  }
}

TEST(StageBatch, WritesTimesByTheGivenIndex) {
  const RandomNetwork network = wide_network();
  const Graph& graph = network.coarse.graph;
  std::vector<Stage> stages = independent_pairs(graph);
  std::reverse(stages.begin(), stages.end());  // not the order in which they run
  FakeBackend backend(2);
  FakeSource source;
  const auto transport = mpi::make_serial_transport();
  StageBatch batch({network.coarse, network.model, backend, *transport, source}, stages, 1 << 20);
  // One stage is made slow, by the clock's own measure.
  const std::size_t slow = stages.size() / 2;
  std::vector<double> ms(stages.size(), 0);
  const std::string first = graph.op(stages[slow].groups[0][0]).name;
  const std::string second = graph.op(stages[slow].groups[1][0]).name;
  std::string before;
  backend.on_run = [&](const std::string& name) {
    const bool its_pair =
        (before == first && name == second) || (before == second && name == first);
    before = name;
    if (!its_pair) return;
    const Stopwatch stopwatch;
    while (stopwatch.ms() < 30) {
    }
  };
  batch.sweep(ms);
  EXPECT_GE(ms[slow], 30);
}

}  // namespace
}  // namespace hios
