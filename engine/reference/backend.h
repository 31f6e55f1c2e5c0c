#pragma once

#include <memory>

#include "engine/backend.h"

namespace hios::reference {

/// The oracle: plain loops over NHWC fp32 tensors, every accumulation in double precision and
/// rounded once, every layer of an operator stored as fp32. It needs no library, supports every
/// operator, and gives the same bits on every machine and for every number of threads, because it
/// computes on the calling thread alone: the groups of a stage run one after the other, and
/// `threads` only says what it was told. Pins nothing.
///
/// Operators bound by one backend share scratch memory, and share the weights of layers of the same
/// model and source: while a bound operator lives, so must the backend, model and source that it
/// was bound with, and no two bound operators of one backend may run at the same time.
std::unique_ptr<Backend> make_backend(const BackendOptions& options);

}  // namespace hios::reference
