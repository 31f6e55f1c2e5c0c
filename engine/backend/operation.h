#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/backend/backend.h"
#include "engine/backend/tensor_source.h"
#include "hios/graph/fusion/coarsen.h"

namespace hios {

/// Returns the operation of an operator of the graph; `model` is the whole model. Refers to
/// `coarse` and `model`.
Operation operation_of(const CoarseGraph& coarse, const Model& model, OpId op);
/// Returns a part of an operation as an operation of its own, under the name of the whole. Refers
/// to `part`.
Operation operation_of(const Operation& whole, const Part& part);

/// Returns the reason if a layer of the operation looks up rows whose indices this arithmetic
/// cannot tell apart (Gather), finds such positions (TopK), or counts with several such numbers
/// (Binary, by the values of the model's file): fp16 holds all whole numbers up to 2048.
std::optional<std::string> inexact_indices(const Operation& operation, Precision precision);

/// Throws InputError that names every operator that the backend cannot run, each with the reason.
void require_support(const Backend& backend, std::span<const Operation> operations);

/// Throws InputError that names operator and reason where the backend cannot read its parameters in
/// host memory.
void require_reads_in_place(const Backend& backend, const std::string& name);

/// Binds an operator of the graph; arguments as in Backend::bind. Throws as require_support does.
std::unique_ptr<BoundOperator> bind_operator(const CoarseGraph& coarse, const Model& model, OpId op,
                                             Backend& backend,
                                             std::span<const std::byte* const> inputs,
                                             std::byte* output, const CoreShare& share,
                                             TensorSource& source);

}  // namespace hios
