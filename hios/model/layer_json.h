#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hios/base/json/json_view.h"
#include "hios/model/layer.h"

/// Kinds of layers in `hios-model` files, with ONNX operator types and attribute names. Facts that
/// ONNX keeps in the shapes of weights (output channels, a bias) have keys of their own.
namespace hios {

/// Reads `count` whole numbers of at least `least` (and at most kMaxExtent).
std::vector<std::int64_t> read_integers(const JsonView& view, std::size_t count,
                                        std::int64_t least);

/// Reads [N, C, H, W].
Shape read_shape(const JsonView& view, std::int64_t least = 1);

/// Returns the kind that a type and its attributes name, and reads that kind's keys from `reader`.
LayerKind read_kind(const JsonView& type, ObjectReader& reader);

/// Adds the kind's attributes to a layer's object.
void write_kind(Json& json, const LayerKind& kind);

}  // namespace hios
