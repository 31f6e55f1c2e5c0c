#include "support/networks/cut_everywhere.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <utility>

#include "engine/backend/certification.h"
#include "engine/job/verification.h"
#include "hios/base/error.h"
#include "support/networks/random_cuts.h"

namespace hios::test {
namespace {

constexpr std::uint64_t kCutSeed = 11;

}  // namespace

NamedValues named_values(const Network& network, Backend& backend, std::uint64_t seed) {
  SeededSource source(seed);
  const std::vector<int> threads(network.coarse.graph.size(), backend.threads());
  const job::OneRankRun run(network.coarse, network.model, backend, threads, source, "");
  NamedValues made;
  for (std::size_t i = 0; i < network.coarse.graph.size(); ++i) {
    made[network.model.tensor(network.coarse.operators[i].output).name] = run.output(OpId(i));
  }
  return made;
}

void expect_alike(const NamedValues& made, const NamedValues& expected, bool exact) {
  std::size_t compared = 0;
  for (const auto& [name, mine] : made) {
    const auto theirs = expected.find(name);
    if (theirs == expected.end()) continue;  // one has parts of it, or copies
    const auto comparison =
        job::compare(mine, theirs->second, exact ? job::Tolerance{0, 0} : job::Tolerance{});
    EXPECT_EQ(comparison.outside, 0u) << name << " differs by up to " << comparison.max_abs;
    EXPECT_TRUE(comparison.bitwise || !exact) << name;
    ++compared;
  }
  EXPECT_GT(compared, 0u);
}

WholeValues::WholeValues(const Model& model, std::vector<std::unique_ptr<Backend>> backends)
    : model_(model), whole_(model), backends_(std::move(backends)) {
  for (const auto& backend : backends_) values_.push_back(named_values(whole_, *backend, kCutSeed));
}

std::size_t WholeValues::expect_of(const Cuts& cuts) const {
  const Network cut = cut_network(model_, cuts);
  EXPECT_NE(cut.digest(), whole_.digest());
  std::size_t inexact = 0;
  for (std::size_t i = 0; i < backends_.size(); ++i) {
    SCOPED_TRACE(std::string(backends_[i]->name()));
    const bool exact = uncertified(*backends_[i], cut.coarse, cut.model).empty();
    EXPECT_TRUE(exact || backends_[i]->name() != "reference");
    inexact += exact ? 0 : 1;
    expect_alike(named_values(cut, *backends_[i], kCutSeed), values_[i], exact);
  }
  return inexact;
}

Model kinds_that_are_cut() {
  ModelBuilder net("kinds", {2, 16, 13, 9});
  const TensorId x = net.relu("x", net.input());
  const TensorId strided = net.conv("strided", x, {32, {3, 3}, {2, 2}, {1, 1}});
  const TensorId dilated =
      net.add("dilated", Conv{32, {3, 3}, {1, 1}, {2, 2}, 32, true, {2, 2}}, {strided});
  const TensorId sum = net.sum("sum", {dilated, strided});
  const TensorId pooled = net.pool("pooled", sum, {Pool::Kind::kAverage, {3, 3}, {1, 1}, {1, 1}});
  const TensorId peak = net.pool("peak", sum, {Pool::Kind::kMax, {3, 3}, {1, 1}, {1, 1}});
  const TensorId joined = net.concat("joined", {pooled, peak});
  const TensorId mean = net.global_average_pool("mean", joined);
  const TensorId scaled =
      net.add("scaled", Binary{Binary::Function::kMul, {}, false}, {joined, mean});
  const TensorId shifted =
      net.add("shifted", Binary{Binary::Function::kAdd, Shape{1, 64, 1, 1}, false}, {scaled});
  const TensorId curved = net.add("curved", Unary{Unary::Function::kSigmoid}, {shifted});
  const TensorId plain = net.sum("plain", {curved, joined});
  const TensorId after = net.relu("after", plain);
  const TensorId each =
      net.conv("depthwise", after, {64, {3, 3}, {1, 1}, {1, 1}, 64, false, {1, 1}});
  const TensorId point = net.conv("pointwise", each, {48, {1, 1}, {1, 1}, {0, 0}});
  const TensorId last = net.conv("grouped", point, {32, {3, 3}, {1, 1}, {1, 1}, 2});
  const TensorId index = net.conv("index", after, {1, {1, 1}, {1, 1}, {0, 0}});
  const TensorId rows = net.add("rows", Gather{Shape{9, 24, 1, 1}}, {index});
  const TensorId best = net.add("best", TopK{5, true, true}, {after});
  const TensorId gated = net.conv(
      "narrowed", net.add("gated", Binary{Binary::Function::kMul, {}, false}, {mean, joined}),
      {24, {1, 1}, {1, 1}, {0, 0}});
  net.concat("end", {last, peak, net.sum("plain too", {plain, plain}), rows, best, gated});
  net.keep_layer_names();
  return std::move(net).build();
}

CutsTried cut_everywhere(const WholeValues& whole, Axis axis, std::int64_t step) {
  const Network& network = whole.network();
  CutsTried tried;
  for (std::size_t i = 0; i < network.coarse.graph.size(); ++i) {
    const Shape& shape = network.model.tensor(network.coarse.operators[i].output).shape;
    const std::string& name = network.coarse.graph.op(OpId(i)).name;
    for (std::int64_t at = step; at < (axis == Axis::kC ? shape.c : shape.h); at += step) {
      SCOPED_TRACE(name + " at " + std::to_string(at));
      const Cut cut{name, {at}, axis == Axis::kC ? 0 : at % 3, axis};
      try {
        (void)cut_network(network.model, {cut});
      } catch (const InputError&) {
        EXPECT_EQ(axis, Axis::kC);  // groups and concatenations
        continue;
      }
      tried.inexact += whole.expect_of({cut});
      ++tried.cuts;
    }
  }
  std::printf("  %zu cuts, %zu of them with other bits on some backend\n", tried.cuts,
              tried.inexact);
  return tried;
}

}  // namespace hios::test
