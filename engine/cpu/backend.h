#pragma once

#include <memory>

#include "engine/backend/backend.h"

namespace hios::cpu {

/// CPU cores through oneDNN. Activations are NHWC fp32 everywhere; weights take the layout that
/// oneDNN picks; a convolution with its bias, addend and activation is one primitive, and what
/// stands in front of a pointwise convolution is done in blocks that stay in cache (separable.cpp).
/// Every operation is supported.
///
/// An operator gives the same bits in every run, on every stream, and whatever else runs beside it;
/// for another number of threads oneDNN may choose another order of summation; our own loops never
/// do. Convolutions for which there are two methods are computed directly, or as algorithms() says
/// (choices.h): other methods, other last bits, as other
/// instructions do.
///
/// Throws InputError where `options.instructions` name none, or some that are not to be had here
/// (instruction_set.h): a process has one instruction set.
std::unique_ptr<Backend> make_backend(const BackendOptions& options);

}  // namespace hios::cpu
