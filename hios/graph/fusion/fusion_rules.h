#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hios/base/json/json_io.h"
#include "hios/graph/fusion/merge_siblings.h"
#include "hios/model/model.h"

/// Which layers become one operator, where the user says it.
namespace hios {

struct FusionRules {
  enum class Kind {
    kDefault,  ///< coarsen()'s own patterns
    kNone,     ///< each layer is an operator
    kListed    ///< `rules`, and all other layers by themselves
  };
  Kind kind = Kind::kDefault;
  /// Types of layers that follow each other (onnx_type()), two or more a rule. "Add" is a sum of
  /// two as well. "BatchNormalization" is what a model has of one: nothing where it became part of
  /// the layer beside it, else a scale and shift of each channel.
  std::vector<std::vector<std::string>> rules = {};
  /// What the model becomes before (Network); no part of a `hios-fusion` file.
  Merge merge = Merge::kNone;

  bool operator==(const FusionRules&) const = default;
};

/// "default", "none" or a `hios-fusion` file. Throws InputError: neither, or a bad file: no rules,
/// rules of one type, of a type that no layer has (the nearest is named), or of one behind itself
/// that then does nothing; a rule twice; more rules or longer ones than make sense.
FusionRules load_fusion(const std::string& word_or_file, const ReadLimits& limits = {});
FusionRules fusion_from_json(const JsonView& root);
/// REQUIRES: rules are listed.
Json to_json(const FusionRules& fusion);

/// The layers of each operator by listed rules, ordered by their last layers; MOIRAI's graph
/// coarsening (Zhang et al., "Moirai: Towards Optimal Placement for Distributed Inference on
/// Heterogeneous Devices", section III-B, Alg. 1). A rule holds for layers of its types each of
/// which is the one before it's only_consumer(); what else they read may come from anywhere. Longer
/// rules come first, of equal ones those listed first, and of the places for one rule those at the
/// model's beginning; a layer is in one operator only. What a rule covers in part is not joined.
std::vector<std::vector<LayerId>> operators_by_rules(const Model& model, const FusionRules& fusion);

/// The one consumer of a layer's output, if it has just one, in the same block, that reads it in
/// its own shape, and nobody outside wants it: whom it can be joined with.
std::optional<LayerId> only_consumer(const Model& model, LayerId id);

}  // namespace hios
