#pragma once

#include "engine/cpu/dnnl_handles.h"
#include "hios/model/layer.h"

namespace hios::cpu {

/// Returns the operations on a primitive's results before it writes them: it adds the output's
/// present value, then applies the activation (null: none). REQUIRES: is_activation.
dnnl::post_ops post_operations(bool add_output, const LayerKind* activation);

}  // namespace hios::cpu
