// Networks whose operators are cut by rows: tensors of the same name have the values of the whole
// network, on the reference backend bit for bit. (A library may compute a smaller image by another
// algorithm: on the CPU the values are equal as the verification of runs has it.)
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "engine/backends.h"
#include "engine/job/verification.h"
#include "hios/base/error.h"
#include "hios/base/numbers/random.h"
#include "hios/graph/network.h"
#include "hios/model/networks/networks.h"

namespace hios {
namespace {

using NamedValues = std::map<std::string, std::vector<float>>;

constexpr std::uint64_t kCutSeed = 11;

NamedValues named_values(const Network& network, const BackendEntry& entry) {
  const auto backend = entry.make({1, {}});
  SeededSource source(kCutSeed);
  const std::vector<int> threads(network.coarse.graph.size(), 1);
  const job::OneRankRun run(network.coarse, network.model, *backend, threads, source, "");
  NamedValues made;
  for (std::size_t i = 0; i < network.coarse.graph.size(); ++i) {
    made[network.model.tensor(network.coarse.operators[i].output).name] = run.output(OpId(i));
  }
  return made;
}

Network cut_network(const Model& model, const Cuts& cuts) {
  FusionRules rules;
  rules.cuts = cuts;
  return Network(model, 4, rules);
}

/// Expects the whole's bits in every output and in every tensor that has its name in the whole.
void expect_values_of_the_whole(const Model& model, const Cuts& cuts) {
  const Network whole(model), cut = cut_network(model, cuts);
  EXPECT_NE(cut.digest(), whole.digest());
  for (const auto& entry : backends()) {
    if (entry.make == nullptr || (entry.name != "reference" && entry.name != "cpu")) continue;
    SCOPED_TRACE(entry.name);
    const NamedValues expected = named_values(whole, entry), made = named_values(cut, entry);
    std::size_t compared = 0, different = 0;
    for (const auto& [name, mine] : made) {
      const auto theirs = expected.find(name);
      if (theirs == expected.end()) continue;  // a shard, or rows that were exchanged
      const bool exact = entry.name == "reference";
      const auto comparison =
          job::compare(mine, theirs->second, exact ? job::Tolerance{0, 0} : job::Tolerance{});
      EXPECT_EQ(comparison.outside, 0u) << name << " differs by up to " << comparison.max_abs;
      EXPECT_TRUE(comparison.bitwise || !exact) << name;
      different += comparison.bitwise ? 0 : 1;
      ++compared;
    }
    EXPECT_GT(compared, 0u);
    if (different > 0)
      std::printf("  %zu of %zu tensors have other bits on %s\n", different, compared,
                  std::string(entry.name).c_str());
  }
}

/// Returns cuts of all operators that can be cut alone, at a random row each.
Cuts random_cuts(const Model& model, Random& random) {
  Cuts cuts;
  const Network whole(model);
  for (std::size_t i = 0; i < whole.coarse.graph.size(); ++i) {
    const std::int64_t height = whole.model.tensor(whole.coarse.operators[i].output).shape.h;
    if (height < 4 || random.below(4) == 0) continue;
    const auto at =
        1 + static_cast<std::int64_t>(random.below(static_cast<std::size_t>(height) - 2));
    Cut cut{whole.coarse.graph.op(OpId(i)).name, {at}, static_cast<std::int64_t>(random.below(3))};
    if (at + 1 < height && random.below(3) == 0) cut.at.push_back(height - 1);
    try {
      (void)cut_network(model, {cut});
    } catch (const InputError&) {
      continue;
    }
    cuts.push_back(std::move(cut));
  }
  return cuts;
}

/// Layers of every kind that is cut: a stride, padding, dilation, groups, sums, broadcasts.
Model kinds_that_are_cut() {
  ModelBuilder net("kinds", {2, 8, 13, 9});
  const TensorId x = net.relu("x", net.input());
  const TensorId strided = net.conv("strided", x, {8, {3, 3}, {2, 2}, {1, 1}});
  const TensorId dilated =
      net.add("dilated", Conv{8, {3, 3}, {1, 1}, {2, 2}, 8, true, {2, 2}}, {strided});
  const TensorId sum = net.sum("sum", {dilated, strided});
  const TensorId pooled = net.pool("pooled", sum, {Pool::Kind::kAverage, {3, 3}, {1, 1}, {1, 1}});
  const TensorId peak = net.pool("peak", sum, {Pool::Kind::kMax, {3, 3}, {1, 1}, {1, 1}});
  const TensorId joined = net.concat("joined", {pooled, peak});
  const TensorId mean = net.global_average_pool("mean", joined);
  const TensorId scaled =
      net.add("scaled", Binary{Binary::Function::kMul, {}, false}, {joined, mean});
  const TensorId shifted =
      net.add("shifted", Binary{Binary::Function::kAdd, Shape{1, 16, 1, 1}, false}, {scaled});
  net.add("curved", Unary{Unary::Function::kSigmoid}, {shifted});
  net.keep_layer_names();
  return std::move(net).build();
}

TEST(CutNetworks, EveryKindAtEveryRow) {
  const Model model = kinds_that_are_cut();
  const Network whole(model);
  std::size_t cut_alone = 0;
  for (std::size_t i = 0; i < whole.coarse.graph.size(); ++i) {
    const std::int64_t height = model.tensor(whole.coarse.operators[i].output).shape.h;
    const std::string& name = whole.coarse.graph.op(OpId(i)).name;
    for (std::int64_t row = 1; row < height; ++row) {
      SCOPED_TRACE(name + " at " + std::to_string(row));
      expect_values_of_the_whole(model, {{name, {row}, row % 3}});
      ++cut_alone;
    }
  }
  EXPECT_GT(cut_alone, 40u);
}

TEST(CutNetworks, RandomCutsOfNetworks) {
  const auto seed = 3u;
  Random random(seed, "cut_networks_test");
  for (const auto& [name, size] : {std::pair{"squeezenet", 64}, {"inception_v3", 83}}) {
    const Model model = models::find(name)->build(1, size, size);
    SCOPED_TRACE(std::string(name) + ", seed " + std::to_string(seed));
    const Cuts cuts = random_cuts(model, random);
    ASSERT_GT(cuts.size(), 5u);
    expect_values_of_the_whole(model, cuts);
  }
}

TEST(CutNetworks, BadCutsSayWhatIsWrong) {
  const Model model = kinds_that_are_cut();
  const auto message = [&](const Cut& cut) {
    try {
      (void)cut_network(model, {cut});
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message({"stridden", {3}}).find("did you mean"), std::string::npos);
  EXPECT_NE(message({"strided", {7}}).find("has 7 rows"), std::string::npos);
  EXPECT_NE(message({"strided", {3, 3}}).find("ascending rows from 1 to 6"), std::string::npos);
  EXPECT_NE(message({"mean", {1}}).find("has 1 rows"), std::string::npos);
}

}  // namespace
}  // namespace hios
