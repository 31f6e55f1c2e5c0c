#pragma once

#include <span>

#include "hios/model/layer.h"

namespace hios {

/// Returns the shape of a layer's output. Throws InputError (without the layer's name, which the
/// Model adds) where the inputs do not fit or the output would be empty.
Shape infer_shape(const LayerKind& kind, std::span<const Shape> inputs);

}  // namespace hios
