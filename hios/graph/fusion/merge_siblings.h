#pragma once

#include <vector>

#include "hios/graph/fusion/merge.h"
#include "hios/model/model.h"

/// Convolutions that read the same tensor, computed as one: operator merge in IOS (Ding et al.,
/// "IOS: Inter-Operator Scheduler for CNN Acceleration", section 3).
namespace hios {

/// Returns the sets of convolutions, two or more each, in the model's order, that one wide
/// convolution can replace. They are 1x1, without groups, of equal stride and padding, read one
/// tensor in one shape and lie in one block. Either each has an equal activation as its only
/// consumer, or none has. A convolution whose output, or whose activation's output, is the model's
/// is in no set, nor is one that only a sum reads: the sum becomes part of it
/// (hios/graph/fusion/coarsen.h).
std::vector<std::vector<LayerId>> sibling_sets(const Model& model);

/// Returns the same model with a wide convolution (Layer::merged), and its activation, for each
/// set that is chosen. Throws InputError if chosen convolutions are not siblings. A channel_slice()
/// with the name of the former producer replaces each member's output, directly before its first
/// consumer. Outputs, weights and the names of all other layers stay.
Model merge_siblings(const Model& model, const Merge& merge = Merge::kSiblings);

}  // namespace hios
