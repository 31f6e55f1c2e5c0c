#pragma once

#include <memory>

#include "engine/backend/backend.h"

namespace hios::cpu {

/// Returns the CPU cores through oneDNN. Activations are NHWC fp32 everywhere; weights take the
/// layout that oneDNN chooses. A convolution with its bias, addend and activation is one primitive;
/// layers before a pointwise convolution run in blocks that stay in cache
/// (convolutions/separable.cpp). Every operation is supported.
///
/// An operator gives the same bits in every run, on every stream, and whatever else runs at the
/// same time. With another number of threads oneDNN may sum in another order; our own loops never
/// do. Convolutions with two methods are computed directly, or as algorithms() says (choices.h).
/// Another method changes the last bits, as other instructions do.
///
/// Throws InputError if `options.instructions` is unknown or unavailable here (instruction_set.h):
/// a process has one instruction set. Also if the system allows no generated code (memory.h).
std::unique_ptr<Backend> make_backend(const BackendOptions& options);

}  // namespace hios::cpu
