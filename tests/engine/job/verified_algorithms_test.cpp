// The algorithms of a run, where several give other bits: which they are, and that --verify's one
// rank computes by them.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/job/small_job.h"
#include "support/fakes/choosy_backend.h"
#include "support/networks/made_up_profile.h"

namespace hios::job {
namespace {

using test::ChoosyBackend;
using OutputsOfJob = std::map<OpId, std::vector<float>>;

constexpr std::uint64_t kChoosySeed = 5;
constexpr std::array kChoosyPrecisions = {Precision::kFp32};

/// The arguments of the backend that this thread makes.
struct ChoosyRank {
  std::size_t choice = 0;
  std::string gpu;
};
thread_local ChoosyRank choosy_rank;

std::unique_ptr<Backend> make_choosy(const BackendOptions&) {
  auto backend = std::make_unique<ChoosyBackend>(choosy_rank.choice);
  backend->gpu = choosy_rank.gpu;
  return backend;
}

constexpr std::array kChoosyTable = {
    BackendEntry{"choosy", "cores", "cpu", &make_choosy, "", "", kChoosyPrecisions}};

/// Returns this algorithm for every operator.
Json all_by(const Graph& graph, std::size_t algorithm) {
  Json algorithms = Json::object();
  for (const Operator& op : graph.operators()) algorithms[op.name] = algorithm;
  return algorithms;
}

/// Returns the outputs of one rank that computes every operator by this algorithm.
OutputsOfJob outputs_by(const Network& network, std::size_t algorithm) {
  const Graph& graph = network.coarse.graph;
  ChoosyBackend alone;
  alone.adopt(all_by(graph, algorithm));
  SeededSource source(kChoosySeed);
  const auto values = test::evaluate_alone(network.coarse, network.model, alone, source);
  OutputsOfJob outputs;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (!graph.out_edges(OpId(i)).empty()) continue;
    outputs[OpId(i)] = test::as_floats(values[i], Precision::kFp32);
  }
  return outputs;
}

/// The ways in which a run can be verified.
struct Way {
  const char* name;
  Verify what = Verify::kOutputs;
  std::optional<InferencesOptions> inferences = {};
};
std::ostream& operator<<(std::ostream& out, const Way& way) { return out << way.name; }

class VerifiedAlgorithms : public testing::TestWithParam<Way> {
 protected:
  /// Runs on ranks that would choose different algorithms, all else equal; expects the bits of one
  /// rank, and returns the outputs of the first input and the report's algorithms.
  std::pair<OutputsOfJob, ReportAlgorithms> run_verified(const RunInputs& inputs) const {
    RunOptions options = options_with({"choosy"}, kChoosyTable);
    options.seed = kChoosySeed;
    options.verify = GetParam().what;
    options.inferences = GetParam().inferences;
    std::mutex mutex;
    OutputsOfJob outputs;
    std::set<std::string> reports;
    ReportAlgorithms algorithms;
    test::run_ranks(kDevices * copies(), [&](mpi::Transport& transport) {
      choosy_rank = {.choice = 3 + transport.rank().index(), .gpu = ""};
      Watch watch(transport, 0);
      RunJob job(watch, inputs, options);
      const RunResults results = job.run();
      const Report report = make_report(inputs, options, job.setup(), results);
      const std::lock_guard lock(mutex);
      ASSERT_TRUE(report.verified && report.verified->algorithms);
      EXPECT_EQ(report.verified->bitwise, true) << report.verified->first_unequal;
      algorithms = *report.verified->algorithms;
      reports.insert(to_json(report, inputs.network.coarse.graph)["verified"].dump());
      const bool first_copy = transport.rank().index() < kDevices;
      if (first_copy) outputs.insert(results.outputs.begin(), results.outputs.end());
    });
    EXPECT_EQ(reports.size(), 1u) << "the same on all ranks";
    return {outputs, algorithms};
  }

  std::size_t copies() const { return GetParam().inferences ? GetParam().inferences->copies : 1; }

  static constexpr std::size_t kDevices = 2;
  RunInputs inputs_ = inputs_for(Network(small_model()), Names(kDevices, "cpu"), 21);
};

TEST_P(VerifiedAlgorithms, WithoutAProfileAreThoseThatRank0Chose) {
  const auto [outputs, algorithms] = run_verified(inputs_);
  EXPECT_EQ(outputs, outputs_by(inputs_.network, 3));
  EXPECT_EQ(algorithms.source, "the algorithms that rank 0 chose");
  EXPECT_EQ(algorithms.chosen, inputs_.network.coarse.graph.size());
}

TEST_P(VerifiedAlgorithms, AreTheProfiles) {
  const Graph& graph = inputs_.network.coarse.graph;
  inputs_.profile = test::made_up_profile(graph, kDevices * copies());
  inputs_.profile->file = "costs.json";
  inputs_.profile->configurations[0].machine["algorithms"] = all_by(graph, 17);
  const auto [outputs, algorithms] = run_verified(inputs_);
  EXPECT_EQ(outputs, outputs_by(inputs_.network, 17));
  EXPECT_NE(outputs, outputs_by(inputs_.network, 3)) << "other algorithms, other bits";
  EXPECT_EQ(algorithms.source, "the algorithms of costs.json");
  EXPECT_EQ(algorithms.from_profile, graph.size());
}

INSTANTIATE_TEST_SUITE_P(
    Of, VerifiedAlgorithms,
    testing::Values(Way{"outputs"}, Way{"operators", Verify::kOperators},
                    Way{"inferences", Verify::kOutputs, InferencesOptions{.in_flight = 3}},
                    Way{"copies", Verify::kOutputs, InferencesOptions{.copies = 2}}),
    [](const auto& test) { return std::string(test.param.name); });

// Rank 1 computes on a GPU and rank 0 does not, by one backend: each has a choice of its own.
TEST(RanksOfTwoChoices, AreNotComparedWithOneRank) {
  const RunInputs inputs = inputs_for(Network(small_model()), {"cpu", "cpu"}, 21);
  RunOptions options = options_with({"choosy"}, kChoosyTable);
  options.verify = Verify::kOutputs;
  test::run_ranks(2, [&](mpi::Transport& transport) {
    const std::size_t rank = transport.rank().index();
    choosy_rank = {.choice = rank, .gpu = rank == 1 ? "a GPU" : ""};
    Watch watch(transport, 0);
    RunJob job(watch, inputs, options);
    EXPECT_FALSE(job.setup().algorithms);
    const RunResults results = job.run();
    ASSERT_TRUE(results.verified);
    EXPECT_FALSE(results.verified->compared_bits);
    const Report report = make_report(inputs, options, job.setup(), results);
    EXPECT_FALSE(report.verified->bitwise);
    EXPECT_FALSE(report.verified->algorithms);
  });
}

}  // namespace
}  // namespace hios::job
