#pragma once

#include "engine/cpu/kernels/kernels.h"
#include "hios/model/layer.h"

namespace hios::cpu {

/// Returns the loop of a function of one value.
UnaryRun loop_of(Unary::Function function);

}  // namespace hios::cpu
