#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hios/base/files/file_io.h"
#include "hios/base/json/json_view.h"
#include "hios/graph/cuts/cuts.h"
#include "hios/graph/fusion/merge_siblings.h"
#include "hios/model/model.h"

/// The user's choice of layers that become one operator.
namespace hios {

struct FusionRules {
  enum class Kind {
    kDefault,  ///< coarsen()'s own patterns
    kNone,     ///< each layer is an operator
    kListed    ///< `rules`, and all other layers by themselves
  };
  Kind kind = Kind::kDefault;
  /// Types of consecutive layers (onnx_type()), two or more a rule. "Add" also matches a sum of
  /// two. "BatchNormalization" matches nothing where it was folded into a neighbouring layer,
  /// otherwise a scale and shift of each channel.
  std::vector<std::vector<std::string>> rules = {};
  /// A transformation of the model before fusion (Network); not in `hios-fusion` files.
  Merge merge = Merge::kNone;
  /// Operators of the merged model that are cut (Network); not in `hios-fusion` files.
  Cuts cuts = {};

  bool operator==(const FusionRules&) const = default;
};

/// Returns the rules of "default", "none" or a `hios-fusion` file. Throws InputError: none of
/// these, or a bad file: no rules, a rule of one type, a type that no layer has (the nearest is
/// named), a type after itself that then does nothing, a rule twice, too many rules or too long
/// ones.
FusionRules load_fusion(const std::string& word_or_file, const ReadLimits& limits = {});
FusionRules fusion_from_json(const JsonView& root);
/// REQUIRES: rules are listed.
Json to_json(const FusionRules& fusion);

/// Returns the layers of each operator by listed rules, ordered by their last layers; MOIRAI's
/// graph coarsening (Zhang et al., "Moirai: Towards Optimal Placement for Distributed Inference on
/// Heterogeneous Devices", section III-B, Alg. 1). A rule matches layers of its types each of which
/// is the only_consumer() of the one before; their other inputs may come from anywhere. Longer
/// rules come first, then those listed first; matches of one rule are found from the model's
/// beginning. A layer is in one operator only, and a partial match joins nothing.
std::vector<std::vector<LayerId>> operators_by_rules(const Model& model, const FusionRules& fusion);

/// Returns the layer that a layer can be joined with: the only consumer of its output, if that is
/// in the same block and reads it in its own shape, and the output is not one of the model's.
std::optional<LayerId> only_consumer(const Model& model, LayerId id);

}  // namespace hios
