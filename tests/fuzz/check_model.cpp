// Part of tests/fuzz/checks.h: models, fusion rules and profiles.

#include <nlohmann/json.hpp>

#include "fuzz/judged.h"
#include "fuzz/reading.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/graph/network.h"
#include "hios/model/model_json.h"
#include "hios/profile/profile.h"
#include "hios/profile/profile_json.h"
#include "hios/profile/settling.h"
#include "support/corpus.h"

namespace hios::test {
namespace {

Model read_model(const JsonView& root) { return model_from_json(root); }
Json model_json(const Model& model) { return to_json(model); }
Json fusion_json(const FusionRules& fusion) { return to_json(fusion); }
Json profile_json(const Profile& profile) { return to_json(profile); }

const Network& good_network() {
  static const Network network = [] {
    const Json json = read_json(corpus() / "model_ok.json");
    return Network(model_from_json(JsonView(json, "model_ok.json")));
  }();
  return network;
}

}  // namespace

int check_model(std::string_view bytes) {
  const auto model = read_or_refuse(bytes, read_model);
  if (!model) return 0;
  promise_same_when_reread(*model, read_model, model_json);
  const CoarseGraph coarse = coarsen(*model);
  promise(coarse.graph.size() <= model->layers().size(), "more operators than layers");
  promise(model->flop() >= 0 && model->parameters() >= 0,
          "a negative number of operations or parameters");
  for (std::size_t i = 0; i < coarse.graph.size(); ++i) {
    const OperatorLayers& layers = coarse.layers(OpId(i));
    promise(coarse.producer(layers.output) == OpId(i), "an output of another operator");
    promise(coarse.graph.op(OpId(i)).memory_bytes ==
                coarse.size_bytes(model->tensor(layers.output).shape),
            "an output of another size");
  }
  return 0;
}

int check_fusion(std::string_view bytes) {
  const auto fusion = read_or_refuse(bytes, fusion_from_json);
  if (!fusion) return 0;
  promise_same_when_reread(*fusion, fusion_from_json, fusion_json);
  const Model& model = good_network().model;
  std::size_t layers = 0;
  for (const OperatorLayers& op : coarsen(model, 4, *fusion).operators) layers += op.layers.size();
  promise(layers == model.layers().size(), "a layer is in no operator or in two");
  return 0;
}

int check_profile(std::string_view bytes) {
  const auto profile = read_or_refuse(bytes, profile_from_json);
  if (!profile) return 0;
  promise_same_when_reread(*profile, profile_from_json, profile_json);
  const Graph& graph = good_network().coarse.graph;
  const Platform platform = Platform::homogeneous(2, "cpu", 1, 2);
  try {
    const CostModel costs = CostModel::from_profile(graph, platform, *profile);
    judge_algorithms(graph, platform, costs);
  } catch (const InputError& error) {
    promise_a_line(error.what());  // an operator that was not measured
  }
  return 0;
}

}  // namespace hios::test
