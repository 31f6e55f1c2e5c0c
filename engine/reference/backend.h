#pragma once

#include <memory>

#include "engine/backend/backend.h"

namespace hios::reference {

/// The oracle: plain loops over NHWC tensors, every accumulation in double precision and rounded
/// once to fp32, every layer inside an operator stored as fp32. It has every arithmetic, so that
/// what fp16 and tf32 lose can be seen without a GPU: in fp16 tensors and weights are halves, and
/// an operator's output is rounded to halves once, at its end; in tf32 the factors of convolutions
/// and matrix products are rounded, and not biases. Hardware rounds in more places, so its bits are
/// others: these are the errors that no fp16 or tf32 can avoid. It needs no library but the C
/// library's exp and its like, supports every operator, and gives the same bits on every machine
/// (where that library does) and for every number of threads, because it computes on the calling
/// thread alone: the groups of a stage run one after the other, and `threads` only says what it was
/// told. Pins nothing.
///
/// Operators bound by one backend share scratch memory, and share the weights of layers of the same
/// model and source: while a bound operator lives, so must the backend, model and source that it
/// was bound with, and no two bound operators of one backend may run at the same time.
std::unique_ptr<Backend> make_backend(const BackendOptions& options);

}  // namespace hios::reference
