#pragma once

#include <cstdint>
#include <memory>

#include "engine/cpu/operators.h"

// Defined in convolutions/winograd.cpp, convolutions/row_blocks.cpp and convolutions/separable.cpp.
namespace hios::cpu {

/// Binds conv + bias + addend + activation by Winograd's method, in blocks of about `rows` output
/// rows (0: as many as fit into the cache). Returns null but for 3×3 windows at stride 1, and for
/// blocks of more than 64 MiB. REQUIRES: one term, no relu before, no depthwise.
std::unique_ptr<BoundOperator> bind_winograd(const Binding& binding, const ConvolutionChain& chain,
                                             std::int64_t rows);

/// Binds conv + bias + addend + activation directly, in blocks of `rows` rows: shards of the image
/// that begin at multiples of them give its bits, since they compute the same blocks. The last
/// block has the rest. REQUIRES: one term, no relu before, no depthwise.
std::unique_ptr<BoundOperator> bind_row_blocks(const Binding& binding,
                                               const ConvolutionChain& chain, std::int64_t rows);

/// Binds a chain of layers before a pointwise convolution, the convolution and an addend. REQUIRES:
/// the convolution is pointwise.
std::unique_ptr<BoundOperator> bind_separable(const Binding& binding,
                                              const ConvolutionChain& chain);

}  // namespace hios::cpu
