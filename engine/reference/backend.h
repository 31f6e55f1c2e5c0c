#pragma once

#include <memory>

#include "engine/backend/backend.h"

namespace hios::reference {

/// Returns the oracle: plain loops over NHWC tensors. Every accumulation is in double precision and
/// rounded once to fp32, and every layer inside an operator is stored as fp32. It supports every
/// precision, so that the errors of fp16 and tf32 can be seen without a GPU. In fp16, tensors and
/// weights are halves, and an operator's output is rounded to halves once, at its end. In tf32, the
/// factors of convolutions and matrix products are rounded, but not biases. Hardware rounds more
/// often, so its bits differ: these are the errors that no fp16 or tf32 can avoid.
///
/// It needs no library but the C library's exp and similar functions, and supports every operator.
/// It gives the same bits on every machine (if that library does) and for every number of threads,
/// because it computes on the calling thread alone. The groups of a stage run one after another,
/// and `threads` only repeats the option. It pins no thread.
///
/// Operators bound by one backend share scratch memory, and share the weights of layers of the same
/// model and source. So the backend, model and source outlive the bound operators, and no two bound
/// operators of one backend may run at the same time.
std::unique_ptr<Backend> make_backend(const BackendOptions& options);

}  // namespace hios::reference
