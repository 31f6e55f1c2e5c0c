#pragma once

#include <memory>

#include "engine/cpu/operators.h"

// Defined in convolutions/separable.cpp.
namespace hios::cpu {

/// Binds a chain of layers before a pointwise convolution, the convolution and an addend. REQUIRES:
/// the convolution is pointwise.
std::unique_ptr<BoundOperator> bind_separable(const Binding& binding,
                                              const ConvolutionChain& chain);

}  // namespace hios::cpu
