#pragma once

#include <memory>
#include <span>

#include "engine/backend/backend.h"
#include "engine/backend/tensor_source.h"
#include "hios/graph/fusion/coarsen.h"

namespace hios {

/// The operation behind an operator of the graph; `model` is the whole one. Refers to `coarse` and
/// `model`.
Operation operation_of(const CoarseGraph& coarse, const Model& model, OpId op);
/// A part of an operation as one of its own, under the name of the whole. Refers to `part`.
Operation operation_of(const Operation& whole, const Part& part);

/// Throws InputError that names operator and reason where the backend cannot run it.
void require_support(const Backend& backend, const Operation& operation);

/// Gives each operator its buffers and core share; arguments as in Backend::bind.
std::unique_ptr<BoundOperator> bind_operator(const CoarseGraph& coarse, const Model& model, OpId op,
                                             Backend& backend,
                                             std::span<const std::byte* const> inputs,
                                             std::byte* output, const CoreShare& share,
                                             TensorSource& source);

}  // namespace hios
