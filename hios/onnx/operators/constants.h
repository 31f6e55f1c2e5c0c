#pragma once

#include "hios/onnx/operators/registry.h"

namespace hios::onnx {

/// Adds constant folding to the table. Integers stay exact; floating-point values are computed in
/// double and stored as float. Operators that only rearrange values need no folding: on constants,
/// too, they return views.
void add_folding(Operators& operators);

}  // namespace hios::onnx
