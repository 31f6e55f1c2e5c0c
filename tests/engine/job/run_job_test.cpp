// Whole jobs on ranks as threads: set up, run, verified and reported from plain options.
#include "engine/job/run_job.h"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <set>

#include "engine/job/small_job.h"
#include "hios/evaluate/simulate.h"
#include "hios/profile/extrapolate.h"
#include "support/message.h"
#include "support/networks/made_up_profile.h"
#include "support/networks/random_network.h"
#include "support/schema.h"
#include "support/transports/fake_job.h"

namespace hios::job {
namespace {

using test::expect_message;
using test::expect_refused_by_all;
using test::FakeBackend;
using test::FakeJob;
using test::messages_of_ranks;
using test::run_fake_job;

TEST(RunJob, ReferenceRanksComputeBitForBitWhatOneComputes) {
  for (std::size_t ranks = 1; ranks <= 3; ++ranks) {
    SCOPED_TRACE(ranks);
    const RunInputs inputs = inputs_for(Network(small_model()), Names(ranks, "cpu"), 17 + ranks);
    std::mutex mutex;
    std::set<std::string> seen;
    test::run_ranks(ranks, [&](mpi::Transport& transport) {
      RunOptions options = options_with({"reference"});
      options.verify = Verify::kOperators;
      Watch watch(transport, 0);
      RunJob job(watch, inputs, options);
      const RunResults results = job.run();
      ASSERT_TRUE(results.verified);
      EXPECT_TRUE(results.verified->compared_bits);
      EXPECT_TRUE(results.verified->bitwise()) << results.verified->first_unequal;
      EXPECT_TRUE(results.verified->passed());
      EXPECT_EQ(results.verified->operators, inputs.network.coarse.graph.size());
      EXPECT_EQ(results.verified->worst.max_abs, 0) << "the reference is itself";
      EXPECT_EQ(results.iterations_ms.size(), 3u);
      const Report report = make_report(inputs, options, job.setup(), results);
      EXPECT_EQ(report.ranks.size(), ranks);
      ASSERT_TRUE(results.waits);
      EXPECT_EQ(results.waits->ranks.size(), ranks);
      EXPECT_EQ(report.ranks[0].backend, find_backend("reference").make({})->describe());
      const std::lock_guard lock(mutex);
      seen.insert(to_json(report, inputs.network.coarse.graph).dump());
    });
    EXPECT_EQ(seen.size(), 1u) << "every rank has the whole report";
  }
}

/// A network with weights of its own, which no other network shares.
Network network_with_weights() {
  const Model model = small_model();
  SeededSource source(5);
  ModelWeights weights;
  for (const Layer& layer : model.layers()) {
    const auto values = values_of(source, model, layer);
    if (!values.weights.empty()) weights.set(layer.name, values);
  }
  return Network(model.with_weights(std::move(weights)));
}

TEST(RunJob, FreesWeightsThatNothingReadsAgain) {
  for (const std::size_t ranks : {1, 2}) {
    for (const Verify verify : {Verify::kNo, Verify::kOutputs}) {
      test::run_ranks(ranks, [&](mpi::Transport& transport) {
        const RunInputs inputs = inputs_for(network_with_weights(), Names(ranks, "cpu"), 23);
        const ModelWeights& weights = *inputs.network.model.weights();
        const Bytes all = weights.size_bytes();
        ASSERT_GT(all, 0u);
        RunOptions options = options_with({"fake"}, test::fake_backends());
        options.verify = verify;
        const RunResults kept = run(transport, inputs, options, 0);
        EXPECT_EQ(weights.size_bytes(), all) << "they are kept unless the options free them";
        options.forget_weights = true;
        const RunResults freed = run(transport, inputs, options, 0);
        EXPECT_EQ(weights.size_bytes(), verify == Verify::kNo ? 0 : all);
        EXPECT_EQ(freed.outputs, kept.outputs);
      });
    }
  }
}

/// The outputs by operator, from all ranks.
using Outputs = std::map<OpId, std::vector<float>>;

Outputs outputs_by_operator(const RunInputs& inputs, const RunOptions& options,
                            const FakeJob& ranks) {
  std::mutex mutex;
  Outputs outputs;
  run_fake_job(ranks, [&](mpi::Transport& transport) {
    const RunResults results = run(transport, inputs, options, 0);
    const std::lock_guard lock(mutex);
    for (const auto& [op, values] : results.outputs) {
      EXPECT_TRUE(outputs.emplace(op, values).second) << "computed twice";
    }
  });
  return outputs;
}

TEST(RunJob, FakeRanksComputeBitForBitWhatOneComputes) {
  const std::vector<std::pair<Names, Names>> jobs = {
      {{"cpu"}, {"fake"}},
      {{"cpu", "cpu", "cpu"}, {"fake", "fake", "fake"}},
      {{"gpu", "gpu"}, {"fake-device", "fake-device"}},
      {{"gpu", "cpu", "gpu"}, {"fake-device", "fake", "fake-device"}},
  };
  for (const auto& [kinds, names] : jobs) {
    for (const std::uint64_t seed : {3, 8}) {
      SCOPED_TRACE(testing::PrintToString(names) + ", seed " + std::to_string(seed));
      const RunInputs inputs = inputs_for(fake_network(seed), kinds, seed);
      RunOptions options = options_with(names, test::fake_backends());
      options.seed = seed;
      const Outputs outputs = outputs_by_operator(inputs, options, {.backends = names});
      FakeBackend oracle;
      SeededSource source(seed);
      const CoarseGraph& coarse = inputs.network.coarse;
      const auto expected = test::evaluate_alone(coarse, inputs.network.model, oracle, source);
      std::size_t graph_outputs = 0;
      for (std::size_t i = 0; i < coarse.graph.size(); ++i) {
        if (!coarse.graph.out_edges(OpId(i)).empty()) continue;
        ++graph_outputs;
        EXPECT_EQ(outputs.at(OpId(i)), test::as_floats(expected[i], Precision::kFp32));
      }
      EXPECT_EQ(outputs.size(), graph_outputs);
    }
  }
}

TEST(RunJob, RanksOfTwoKindsAreNotComparedWithOne) {
  const Names names = {"fake-device", "fake"};
  const RunInputs inputs = inputs_for(Network(small_model()), {"gpu", "cpu"}, 5);
  RunOptions options = options_with(names, test::fake_backends());
  options.verify = Verify::kOutputs;
  run_fake_job({.backends = names}, [&](mpi::Transport& transport) {
    const RunResults results = run(transport, inputs, options, 0);
    ASSERT_TRUE(results.verified);
    EXPECT_FALSE(results.verified->compared_bits);
    EXPECT_FALSE(results.verified->passed()) << "a fake computes nothing that means something";
    EXPECT_EQ(results.verified->operators, 1u);
  });
}

TEST(RunJob, SaysWhatWillRunWhere) {
  const Names names = {"fake-device", "fake"};
  const RunInputs inputs = inputs_for(fake_network(3), {"gpu", "cpu"}, 4);
  run_fake_job({.backends = names}, [&](mpi::Transport& transport) {
    Watch watch(transport, 0);
    RunJob job(watch, inputs, options_with(names, test::fake_backends()));
    const RunSetup& setup = job.setup();
    EXPECT_EQ(setup.backends, names);
    ASSERT_EQ(setup.ranks.size(), 2u);
    EXPECT_GT(setup.ranks[0].arena_bytes, 0u);
    EXPECT_TRUE(setup.transfer_paths);
    const std::vector<std::string> steps = job.steps();
    ASSERT_EQ(steps.size(), 2u);
    for (const Operator& op : inputs.network.coarse.graph.operators()) {
      const std::string text = steps[0] + steps[1];
      EXPECT_NE(text.find(op.name), std::string::npos);
    }
    EXPECT_NE(steps[0].find("  stage 0: "), std::string::npos);
    EXPECT_EQ(job.costs(), nullptr);
  });
}

TEST(RunJob, AProfilePredicts) {
  RunInputs inputs = inputs_for(fake_network(6), {"cpu", "cpu"}, 9);
  inputs.profile = test::made_up_profile(inputs.network.coarse.graph, 2);
  run_fake_job({.backends = {"fake", "fake"}}, [&](mpi::Transport& transport) {
    Watch watch(transport, 0);
    const RunOptions options = options_with({"fake"}, test::fake_backends());
    RunJob job(watch, inputs, options);
    const RunResults results = job.run();
    ASSERT_TRUE(results.predicted);
    ASSERT_TRUE(predicted_ms(inputs, results));
    EXPECT_EQ(
        *predicted_ms(inputs, results),
        simulate(inputs.network.coarse.graph, inputs.schedule.schedule, *job.costs()).latency_ms);
    const Report report = make_report(inputs, options, job.setup(), results);
    EXPECT_EQ(report.predicted_ms, predicted_ms(inputs, results));
    ASSERT_TRUE(report.predicted);
    ASSERT_EQ(report.measured->stages.size(), inputs.schedule.schedule.devices.size());
    for (std::size_t d = 0; d < report.measured->stages.size(); ++d) {
      const auto& stages = report.measured->stages[d];
      EXPECT_EQ(stages.size(), inputs.schedule.schedule.devices[d].size());
      EXPECT_EQ(stages.size(), report.predicted->stages[d].size());
      for (const auto& stage : stages) EXPECT_GE(stage.end_ms, stage.start_ms);
    }
  });
}

TEST(RunJob, CostsOfOtherRanksAreUsedIfTheScheduleWasPlannedWithThem) {
  const Names three = {"fake", "fake", "fake"};
  RunInputs inputs = inputs_for(fake_network(6), {"cpu", "cpu", "cpu"}, 9);
  const Graph& graph = inputs.network.coarse.graph;
  inputs.profile = test::made_up_profile(graph, 2);
  inputs.profile->file = "p.json";
  const RunOptions options = options_with({"fake"}, test::fake_backends());
  const auto run_it = [&](mpi::Transport& transport) { run(transport, inputs, options, 0); };
  const auto messages = messages_of_ranks({.backends = three}, run_it);
  for (const std::string& text : messages)
    expect_message(text, "no configuration for cpu0 (cpu, 1 threads, 3 ranks)");

  const Platform platform(inputs.schedule.devices);
  const Profile standing = extrapolated(*inputs.profile, platform, 2);
  const double planned_ms =
      simulate(graph, inputs.schedule.schedule, CostModel::from_profile(graph, platform, standing))
          .latency_ms;
  inputs.schedule.has_prediction = true;
  inputs.schedule.predicted.latency_ms = planned_ms;
  inputs.schedule.predicted.measured_ranks = 2;
  inputs.schedule.predicted.lower_bound_ms = planned_ms / 2;
  run_fake_job({.backends = three}, [&](mpi::Transport& transport) {
    Watch watch(transport, 0);
    RunJob job(watch, inputs, options);
    EXPECT_EQ(job.setup().measured_ranks, 2u);
    const RunResults results = job.run();
    ASSERT_TRUE(results.predicted);
    EXPECT_EQ(results.predicted->latency_ms, planned_ms) << "as it was planned";
    const Report report = make_report(inputs, options, job.setup(), results);
    EXPECT_EQ(report.profile_digest, inputs.profile->digest()) << "the file's";
    EXPECT_EQ(report.gap, 1) << "twice the bound";
  });
  inputs.profile = test::made_up_profile(graph, 3);  // measured in the meantime
  run_fake_job({.backends = three}, [&](mpi::Transport& transport) {
    Watch watch(transport, 0);
    EXPECT_FALSE(RunJob(watch, inputs, options).setup().measured_ranks);
  });
}

// ---------------------------------------------------------- bad input, on whichever rank

std::vector<std::string> refusals(const FakeJob& ranks, const RunOptions& options,
                                  const std::function<void(Rank, RunInputs&)>& spoil,
                                  const Names& kinds = {"cpu", "cpu"}) {
  return messages_of_ranks(ranks, [&](mpi::Transport& transport) {
    RunInputs inputs = inputs_for(fake_network(6), kinds, 9);
    spoil(transport.rank(), inputs);
    run(transport, inputs, options, 0);
  });
}

const FakeJob kTwoFakes{.backends = {"fake", "fake"}};

TEST(RunJob, AScheduleThatIsBrokenOnOneRankIsRefusedByAll) {
  const auto options = options_with({"fake"}, test::fake_backends());
  expect_refused_by_all(refusals(kTwoFakes, options,
                                 [](Rank rank, RunInputs& inputs) {
                                   if (rank == Rank(1)) inputs.schedule.schedule.devices[0].clear();
                                 }),
                        "rank 1: the schedule: $.devices");
  expect_refused_by_all(
      refusals(kTwoFakes, options,
               [](Rank, RunInputs& inputs) { inputs.schedule.devices.pop_back(); }),
      "has 1 devices and the job 2 ranks");
}

TEST(RunJob, RanksThatHoldDifferentInputsAreRefused) {
  const auto options = options_with({"fake"}, test::fake_backends());
  expect_refused_by_all(refusals(kTwoFakes, options,
                                 [](Rank rank, RunInputs& inputs) {
                                   if (rank == Rank(1)) inputs.schedule.algorithm = "another";
                                 }),
                        "the schedule differs");
  expect_refused_by_all(refusals(kTwoFakes, options,
                                 [](Rank rank, RunInputs& inputs) {
                                   if (rank == Rank(1)) inputs.network = fake_network(7);
                                 }),
                        "rank 1");
  expect_refused_by_all(
      messages_of_ranks(kTwoFakes,
                        [&](mpi::Transport& transport) {
                          RunOptions own = options;
                          own.seed = transport.rank().index();
                          run(transport, inputs_for(fake_network(6), {"cpu", "cpu"}, 9), own, 0);
                        }),
      "the seed differs: rank 0 has 0, rank 1 has 1");
}

TEST(RunJob, StagesInAnyOrderAreForHostsAndOneInferenceAtATime) {
  RunOptions options = options_with({"fake"}, test::fake_backends());
  options.any_order = true;
  options.inferences.emplace();
  expect_refused_by_all(refusals(kTwoFakes, options, [](Rank, RunInputs&) {}),
                        "many inferences in flight run in the schedule's order");
  RunOptions on_devices = options_with({"fake-device"}, test::fake_backends());
  on_devices.any_order = true;
  expect_refused_by_all(
      messages_of_ranks(
          {.backends = {"fake-device", "fake-device"}},
          [&](mpi::Transport& transport) {
            run(transport, inputs_for(fake_network(6), {"gpu", "gpu"}, 9), on_devices, 0);
          }),
      "the fake-device backend is given its stages in the schedule's order");
}

TEST(RunJob, AnOperatorThatOneRankCannotRunIsRefusedByAll) {
  FakeJob ranks = kTwoFakes;
  const RunInputs inputs = inputs_for(fake_network(6), {"cpu", "cpu"}, 9);
  const Stage& first = inputs.schedule.schedule.devices[1].front();
  const std::string name = inputs.network.coarse.graph.op(first.groups[0][0]).name;
  ranks.on_make = [&](Rank rank, FakeBackend& backend) {
    if (rank == Rank(1)) backend.refused = name;
  };
  expect_refused_by_all(
      refusals(ranks, options_with({"fake"}, test::fake_backends()), [](Rank, RunInputs&) {}),
      "rank 1: backend fake cannot run " + name);
}

TEST(RunJob, BackendsOfAnotherKindThanTheScheduleAreRefused) {
  const auto nothing = [](Rank, RunInputs&) {};
  expect_refused_by_all(
      refusals(kTwoFakes, options_with({"fake"}, test::fake_backends()), nothing, {"cpu", "gpu"}),
      "$.devices[1]: the schedule wants a device of kind gpu, and rank 1 has the fake backend");
  expect_refused_by_all(
      refusals(kTwoFakes, options_with({"fake", "fake", "fake"}, test::fake_backends()), nothing),
      "3 backends are named for 2 ranks");
  expect_refused_by_all(refusals(kTwoFakes, options_with({"cpu"}, test::fake_backends()), nothing),
                        "unknown backend 'cpu'; known are auto, fake, fake-device");
}

TEST(RunJob, MissingTimesOfTheProfileAreNamedByAll) {
  expect_refused_by_all(refusals(kTwoFakes, options_with({"fake"}, test::fake_backends()),
                                 [](Rank, RunInputs& inputs) {
                                   inputs.profile = Profile{};
                                   inputs.profile->file = "p.json";
                                 }),
                        "p.json");
}

TEST(RunJob, AFailureWhileRunningIsNoBadInput) {
  FakeJob ranks = kTwoFakes;
  const RunInputs inputs = inputs_for(fake_network(6), {"cpu", "cpu"}, 9);
  const Stage& first = inputs.schedule.schedule.devices[1].front();
  ranks.on_make = [&](Rank rank, FakeBackend& backend) {
    if (rank == Rank(1)) backend.failing = inputs.network.coarse.graph.op(first.groups[0][0]).name;
  };
  EXPECT_THROW(run_fake_job(ranks,
                            [&](mpi::Transport& transport) {
                              run(transport, inputs, options_with({"fake"}, test::fake_backends()),
                                  0);
                            }),
               RunError);
}

}  // namespace
}  // namespace hios::job
