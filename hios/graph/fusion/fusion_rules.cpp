#include "hios/graph/fusion/fusion_rules.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string_view>

#include "hios/base/error.h"
#include "hios/base/json/json_io.h"
#include "hios/base/nearest_name.h"
#include "hios/graph/fusion/fusion.h"
#include "hios/model/layer_types.h"

// MOIRAI's Alg. 1 as printed continues its walk outside its loop, so along one branch only, and
// marks no layer as visited. It joins pairs as they come and undoes partial matches at the end, so
// a rule's matches depend on the walk. Here a match is complete or none, and the order of matches
// is fixed.
//
// Fusion makes no cycle and hides no tensor, because a layer is joined to its only consumer. Every
// path out of the layer leads through that consumer, so no path leaves the operator and comes back,
// and no other layer reads the output. That is the paper's "direct" and "multi-inputs" connection;
// a layer with several consumers ("multi-outputs") ends a match. Ordered by their last layers,
// operators are in topological order, since only last layers are read from outside.
//
// O(rules · layers · their length). Tests: tests/hios/graph/fusion/fusion_rules_test.cpp (Fig. 7),
// tests/hios/graph/fusion/coarsen_random_test.cpp.

namespace hios {
namespace {

constexpr std::size_t kMaxRules = 256, kMaxTypes = 32;
constexpr std::string_view kNormalization = "BatchNormalization", kAddition = "Add";

/// Idempotent types: a second layer changes nothing.
constexpr std::array<std::string_view, 6> kOnceIsEnough = {"Abs",  "Ceil",  "Floor",
                                                           "Relu", "Round", "Sign"};

/// Returns the edit distance, case aside, with transposition of neighbours.
std::size_t distance(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  };
  // Distances between the prefixes of `a` and `b`, by their lengths.
  std::vector<std::vector<std::size_t>> apart(a.size() + 1,
                                              std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        apart[i][j] = i + j;
        continue;
      }
      apart[i][j] = std::min({apart[i - 1][j] + 1, apart[i][j - 1] + 1,
                              apart[i - 1][j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1)});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) {
        apart[i][j] = std::min(apart[i][j], apart[i - 2][j - 2] + 1);
      }
    }
  }
  return apart[a.size()][b.size()];
}

std::string read_type(const JsonView& view) {
  const std::string text = view.string();
  const auto& types = layer_types();
  if (text == kNormalization || std::ranges::find(types, text) != types.end()) return text;
  const std::string_view begin = std::string_view(text).substr(0, 64);
  std::string_view nearest = kNormalization;
  for (const std::string_view type : types) {
    if (distance(begin, type) < distance(begin, nearest)) nearest = type;
  }
  view.fail("no layer is of type " + quote(text) + "; the nearest is " + quote(nearest));
}

std::vector<std::string> read_rule(const JsonView& view) {
  std::vector<std::string> rule;
  const std::vector<JsonView> elements = view.array();
  if (elements.size() < 2) view.fail("joins nothing: a rule has two types of layers or more");
  if (elements.size() > kMaxTypes) {
    view.fail("has " + std::to_string(elements.size()) + " types; at most " +
              std::to_string(kMaxTypes) + " are taken");
  }
  for (const JsonView& element : elements) {
    std::string type = read_type(element);
    const bool idle = std::ranges::find(kOnceIsEnough, type) != kOnceIsEnough.end();
    if (!rule.empty() && rule.back() == type && (idle || type == kNormalization)) {
      element.fail(type + " directly after " + type + " does nothing; remove one of the two");
    }
    rule.push_back(std::move(type));
  }
  return rule;
}

/// Returns true for a scale and shift of each channel: a normalization that was not folded.
bool scales_channels(const Layer& layer) {
  const Conv* conv = std::get_if<Conv>(&layer.kind);
  return conv != nullptr && is_depthwise(layer) && conv->kernel == Extent{1, 1} &&
         conv->stride == Extent{1, 1} && conv->padding == Padding{0, 0};
}

bool is_of_type(const Layer& layer, std::string_view type) {
  if (type == kNormalization) return scales_channels(layer);
  const std::string_view own = onnx_type(layer.kind);
  return own == type || (type == kAddition && own == "Sum" && layer.inputs.size() == 2);
}

class RuleMatcher {
 public:
  explicit RuleMatcher(const Model& model) : model_(model), taken_(model.layers().size(), false) {}

  /// Takes the layers of each match.
  void apply(const std::vector<std::string>& rule) {
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      std::vector<LayerId> layers = match(rule, LayerId(i));
      if (layers.size() < 2) continue;
      for (const LayerId id : layers) taken_[id.index()] = true;
      operators_.push_back(std::move(layers));
    }
  }

  std::vector<std::vector<LayerId>> take() {
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      if (!taken_[i]) operators_.push_back({LayerId(i)});
    }
    std::sort(operators_.begin(), operators_.end(),
              [](const auto& a, const auto& b) { return a.back() < b.back(); });
    return std::move(operators_);
  }

 private:
  /// Returns the match that begins at this layer; empty: there is none.
  std::vector<LayerId> match(const std::vector<std::string>& rule, LayerId first) const {
    std::vector<LayerId> layers;
    std::optional<LayerId> next = first;
    for (const std::string& type : rule) {
      const bool here = next && !taken_[next->index()] && is_of_type(model_.layer(*next), type);
      if (!here && type == kNormalization) continue;  // folded into its neighbour
      if (!here) return {};
      layers.push_back(*next);
      next = only_consumer(model_, *next);
    }
    return layers;
  }

  const Model& model_;
  std::vector<bool> taken_;  // by layer
  std::vector<std::vector<LayerId>> operators_;
};

}  // namespace

FusionRules fusion_from_json(const JsonView& root) {
  ObjectReader reader = open_format(root, "hios-fusion");
  const JsonView list = reader.required("rules");
  reader.finish();
  const std::vector<JsonView> elements = list.array();
  if (elements.empty()) list.fail("needs at least one rule");
  if (elements.size() > kMaxRules) {
    list.fail("has " + std::to_string(elements.size()) + " rules; at most " +
              std::to_string(kMaxRules) + " are taken");
  }
  FusionRules fusion{FusionRules::Kind::kListed};
  for (const JsonView& element : elements) {
    std::vector<std::string> rule = read_rule(element);
    const auto same = std::ranges::find(fusion.rules, rule);
    if (same != fusion.rules.end()) {
      element.fail("is the same rule as $.rules[" + std::to_string(same - fusion.rules.begin()) +
                   "]; remove one of the two");
    }
    fusion.rules.push_back(std::move(rule));
  }
  return fusion;
}

Json to_json(const FusionRules& fusion) {
  return {{"format", "hios-fusion"}, {"version", kFormatVersion}, {"rules", fusion.rules}};
}

FusionRules load_fusion(const std::string& word_or_file, const ReadLimits& limits) {
  if (word_or_file == "default") return {};
  if (word_or_file == "none") return {FusionRules::Kind::kNone};
  if (word_or_file.find_first_of("./") == std::string::npos) {
    throw InputError("fusion " + printable(word_or_file, 200) +
                     ": neither default nor none, and no file (a file's name has a '.' or a '/')" +
                     did_you_mean(word_or_file, {"default", "none"}));
  }
  const Json json = read_json(word_or_file, limits);
  return fusion_from_json(JsonView(json, word_or_file));
}

std::optional<LayerId> only_consumer(const Model& model, LayerId id) {
  const TensorId made = model.layer(id).output;
  const auto consumers = model.consumers(made);
  if (consumers.size() != 1 || model.is_output(made)) return {};
  const Layer& consumer = model.layer(consumers.front());
  if (consumer.block != model.layer(id).block) return {};
  for (std::size_t i = 0; i < consumer.inputs.size(); ++i) {
    const bool as_made = consumer.input_shapes[i] == model.tensor(made).shape;
    if (consumer.inputs[i] == made && !as_made) return {};
  }
  return consumers.front();
}

std::vector<std::vector<LayerId>> operators_by_rules(const Model& model,
                                                     const FusionRules& fusion) {
  std::vector<const std::vector<std::string>*> rules;
  for (const auto& rule : fusion.rules) rules.push_back(&rule);
  std::stable_sort(rules.begin(), rules.end(),
                   [](const auto* a, const auto* b) { return a->size() > b->size(); });
  RuleMatcher matcher(model);
  for (const auto* rule : rules) matcher.apply(*rule);
  return matcher.take();
}

}  // namespace hios
