#pragma once

#include <string_view>
#include <vector>

#include "hios/model/model.h"

/// Convolutions that read the same tensor, computed as one: what IOS calls operator merge (Ding et
/// al., "IOS: Inter-Operator Scheduler for CNN Acceleration", section 3).
namespace hios {

enum class Merge {
  kNone,     ///< each convolution by itself
  kSiblings  ///< merge_siblings()
};
std::string_view to_string(Merge merge);
/// "none" or "siblings"; throws InputError, which names both, for any other word.
Merge merge_of(std::string_view word);

/// Convolutions, two or more, in the model's order, that one wide convolution can stand for: 1x1,
/// without groups, of one stride and padding; they read one tensor in one shape, lie in one block,
/// and each is read by an equal activation and nothing else, or none is. A convolution that the
/// model is computed for, or whose activation's output is one, is in no set, nor is one that only
/// a sum reads: the sum becomes part of it (hios/graph/fusion/coarsen.h).
std::vector<std::vector<LayerId>> sibling_sets(const Model& model);

/// The same model with a wide convolution (Layer::merged), and its activation, in place of each
/// set. A channel_slice() by the name of what made it before stands for each member's output,
/// directly in front of its first consumer. Outputs, names of all other layers and weights are the
/// model's own.
Model merge_siblings(const Model& model);

}  // namespace hios
