#pragma once

#include "engine/cpu/dnnl_handles.h"
#include "hios/model/layer.h"

namespace hios::cpu {

/// What a primitive does to its results before it writes them: adds to each the value that the
/// output holds already, then applies the activation (null: none). REQUIRES: is_activation.
dnnl::post_ops post_operations(bool add_output, const LayerKind* activation);

}  // namespace hios::cpu
