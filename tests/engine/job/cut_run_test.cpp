// Runs of cut networks: they have the bits of the whole network, or are refused, and --verify
// compares them with the whole.
#include <gtest/gtest.h>

#include <array>
#include <mutex>

#include "engine/job/small_job.h"
#include "support/expect_error.h"
#include "support/fakes/methodical_backend.h"
#include "support/networks/made_up_profile.h"
#include "support/networks/random_cuts.h"

namespace hios::job {
namespace {

constexpr std::array kCutPrecisions = {Precision::kFp32};

std::unique_ptr<Backend> make_exact(const BackendOptions&) {
  return std::make_unique<test::MethodicalBackend>();
}

/// Returns a backend on which the first shard of "left" has other bits than the whole.
std::unique_ptr<Backend> make_inexact(const BackendOptions&) {
  return std::make_unique<test::MethodicalBackend>("left [0");
}

constexpr std::array kCutTable = {
    BackendEntry{"exact", "cores", "cpu", &make_exact, "", "", kCutPrecisions},
    BackendEntry{"inexact", "cores", "cpu", &make_inexact, "", "", kCutPrecisions}};

/// Two convolutions cut by rows and by channels, the latter joined for the output.
RunInputs cut_inputs(std::size_t ranks) {
  ModelBuilder net("net", {1, 16, 12, 9});
  const TensorId stem = net.conv("stem", net.input(), {16, {3, 3}, {1, 1}, {1, 1}});
  const TensorId left = net.conv("left", stem, {16, {3, 3}, {1, 1}, {1, 1}});
  net.conv("right", left, {32, {3, 3}, {2, 2}, {1, 1}});
  net.keep_layer_names();
  Cuts cuts{{"left", {5}}, {"right", {16}, 0, Axis::kC}, {"stem", {3, 8}, 1}};
  cuts.front().where = "c.json: $.cuts[0]";
  return inputs_for(test::cut_network(std::move(net).build(), cuts), Names(ranks, "cpu"), 7);
}

RunInputs profiled(RunInputs inputs, std::size_t ranks) {
  inputs.profile = test::made_up_profile(inputs.network.coarse.graph, ranks);
  return inputs;
}

/// Returns rank 0's verification of a run on this backend.
Verified verified_run(const RunInputs& inputs, std::size_t ranks, const std::string& backend,
                      Verify what) {
  RunOptions options = options_with({backend}, kCutTable);
  options.verify = what;
  Verified verified;
  test::run_ranks(ranks, [&](mpi::Transport& transport) {
    const RunResults results = run(transport, inputs, options, 0);
    if (transport.rank() == Rank(0)) verified = results.verified.value();
  });
  return verified;
}

TEST(CutRun, WithoutAProfileRefusesACutThatChangesBits) {
  for (const std::size_t ranks : {1, 2}) {
    const RunInputs inputs = cut_inputs(ranks);
    test::run_ranks(ranks, [&](mpi::Transport& transport) {
      test::expect_error<InputError>(
          [&] { (void)run(transport, inputs, options_with({"inexact"}, kCutTable), 0); },
          {"c.json: $.cuts[0]: operator \"left\" cannot be cut here: its shards would give other "
           "bits"});
    });
  }
}

TEST(CutRun, HasTheBitsOfTheWhole) {
  for (const std::size_t ranks : {1, 2, 3}) {
    for (const Verify what : {Verify::kOutputs, Verify::kOperators}) {
      const RunInputs inputs = cut_inputs(ranks);
      const Verified verified = verified_run(inputs, ranks, "exact", what);
      EXPECT_TRUE(verified.bitwise()) << verified.first_unequal;
      EXPECT_TRUE(verified.passed());
      const std::size_t all = inputs.network.coarse.graph.size();
      if (what == Verify::kOperators) {
        EXPECT_EQ(verified.operators, all);
      }
    }
  }
}

// A profile is believed, but not by the verification.
TEST(CutRun, IsComparedWithTheWhole) {
  for (const std::size_t ranks : {1, 2}) {
    const RunInputs inputs = profiled(cut_inputs(ranks), ranks);
    const auto unequal = [&](Verify what) {
      return verified_run(inputs, ranks, "inexact", what).first_unequal;
    };
    EXPECT_NE(unequal(Verify::kOutputs), "");
    EXPECT_EQ(unequal(Verify::kOperators), "left [0, 5)");
  }
}

}  // namespace
}  // namespace hios::job
