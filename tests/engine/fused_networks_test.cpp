// Operators of fusion rules that no backend has a special form for: each network, small, on every
// backend of this build that runs here. Every tensor between operators equals that of the reference
// backend with one layer for each operator.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/backends.h"
#include "engine/job/verification.h"
#include "hios/base/numbers/random.h"
#include "hios/model/networks/networks.h"
#include "support/networks/small_network.h"

namespace hios {
namespace {

using test::SmallNetwork;

class FusedNetworks : public testing::TestWithParam<SmallNetwork> {
 protected:
  using Values = std::map<TensorId, std::vector<float>>;

  /// Returns the output of each operator, by tensor.
  Values values(const FusionRules& fusion, std::string_view backend_name) const {
    const CoarseGraph coarse = coarsen(model, 4, fusion);
    const auto backend = find_backend(backend_name).make({1, {}});
    SeededSource source(7);
    const std::vector<int> threads(coarse.graph.size(), 1);
    const job::OneRankRun run(coarse, model, *backend, threads, source, "");
    Values made;
    for (std::size_t i = 0; i < coarse.graph.size(); ++i) {
      made[coarse.operators[i].output] = run.output(OpId(i));
    }
    return made;
  }

  /// Returns rules that follow paths through the network, so that they match somewhere.
  FusionRules rules_along_ways(Random& random) const {
    FusionRules fusion{FusionRules::Kind::kListed};
    for (int i = 0; i < 6; ++i) {
      std::vector<std::string> rule;
      std::optional<LayerId> at(random.below(model.layers().size()));
      for (std::uint64_t left = random.below(5) + 2; at && left > 0; --left) {
        rule.emplace_back(onnx_type(model.layer(*at).kind));
        at = only_consumer(model, *at);
      }
      if (rule.size() > 1) fusion.rules.push_back(std::move(rule));
    }
    return fusion;
  }

  Model model = models::find(GetParam().name)->build(1, GetParam().size, GetParam().size);
};

TEST_P(FusedNetworks, MakeTheSameTensors) {
  const Values expected = values({FusionRules::Kind::kNone}, "reference");
  std::vector<FusionRules> fusions = {{FusionRules::Kind::kNone}};
  Random random(5, GetParam().name);  // the seed of everything random
  for (int i = 0; i < 3; ++i) fusions.push_back(rules_along_ways(random));
  for (const char* backend : {"reference", "cpu"}) {
    const auto entry = std::ranges::find(backends(), backend, &BackendEntry::name);
    if (entry == backends().end() || entry->make == nullptr) continue;
    for (const FusionRules& fusion : fusions) {
      SCOPED_TRACE(std::string(backend) + " " + to_json(fusion)["rules"].dump());
      for (const auto& [tensor, mine] : values(fusion, backend)) {
        const std::vector<float>& theirs = expected.at(tensor);
        ASSERT_EQ(mine.size(), theirs.size());
        double furthest = 0;
        for (std::size_t k = 0; k < mine.size(); ++k) {
          const double apart = std::abs(double{mine[k]} - double{theirs[k]});
          furthest = std::max(furthest, apart - 1e-3 * std::abs(double{theirs[k]}));
        }
        EXPECT_LT(furthest, 1e-3) << model.tensor(tensor).name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Small, FusedNetworks,
                         testing::Values(SmallNetwork{"inception_v3", 75},
                                         SmallNetwork{"nasnet_large", 32},
                                         SmallNetwork{"squeezenet", 48},
                                         SmallNetwork{"randwire_large", 32}),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace hios
