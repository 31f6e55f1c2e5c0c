#include "engine/backend/operation.h"

#include <cmath>

#include "hios/base/error.h"
#include "hios/base/need.h"
#include "hios/base/numbers/half.h"

namespace hios {

Operation operation_of(const CoarseGraph& coarse, const Model& model, OpId op) {
  const Operator& described = coarse.graph.op(op);
  return {&coarse.model_of(op, model), &coarse.layers(op), described.name, described.signature};
}

Operation operation_of(const Operation& whole, const Part& part) {
  return {whole.model, &part.layers, whole.name, whole.signature};
}

namespace {

constexpr std::int64_t kMostInHalves = 2048;

/// Returns a whole number among the values with which a layer compares or to which it adds, if fp16
/// holds another one: the layer computes positions. Single numbers and numbers beyond those that
/// fp32 counts, as masks have them, are none.
std::optional<float> inexact_position(const Model& model, const Layer& layer) {
  constexpr float kMostCounted = 1 << 24;
  const auto* const binary = std::get_if<Binary>(&layer.kind);
  if (binary == nullptr || !binary->constant || binary->constant->elements() < 2) return {};
  using enum Binary::Function;
  const Binary::Function function = binary->function;
  if (function != kAdd && function != kSub && function != kEqual) return {};
  const ModelWeights* const weights = model.weights();
  const ModelWeights::Values* const values = weights ? weights->find(layer.name) : nullptr;
  if (values == nullptr) return {};
  for (const float value : values->weights) {
    const bool counted = std::abs(value) <= kMostCounted && value == std::floor(value);
    if (counted && round_to_half(value) != value) return value;
  }
  return {};
}

}  // namespace

std::optional<std::string> inexact_indices(const Operation& operation, Precision precision) {
  if (precision != Precision::kFp16) return {};
  for (const LayerId id : operation.layers->layers) {
    const Layer& layer = operation.model->layer(id);
    const auto* const top = std::get_if<TopK>(&layer.kind);
    const std::int64_t ranked = layer.input_shapes.front().c;
    if (top != nullptr && top->positions && ranked > kMostInHalves) {
      return layer.name + " finds positions among " + std::to_string(ranked) +
             " values, and fp16 holds whole numbers up to " + std::to_string(kMostInHalves);
    }
    if (const auto number = inexact_position(*operation.model, layer)) {
      return layer.name + " counts with " + std::to_string(static_cast<std::int64_t>(*number)) +
             ", and fp16 holds whole numbers up to " + std::to_string(kMostInHalves);
    }
    const auto* const gather = std::get_if<Gather>(&layer.kind);
    if (gather == nullptr) continue;
    const Shape& table = gather->table ? *gather->table : layer.input_shapes[1];
    const std::int64_t rows = table.elements() / table.c;
    if (rows <= kMostInHalves) continue;
    return layer.name + " looks up a table of " + std::to_string(rows) +
           " rows, and fp16 holds whole numbers up to " + std::to_string(kMostInHalves);
  }
  return {};
}

void require_support(const Backend& backend, std::span<const Operation> operations) {
  std::size_t refused = 0;
  std::string reasons;
  for (const Operation& operation : operations) {
    const auto reason = backend.unsupported(operation);
    if (!reason) continue;
    reasons += (refused++ > 0 ? "; " + operation.name : operation.name) + ": " + *reason;
  }
  if (refused == 0) return;
  const std::string count = refused > 1 ? std::to_string(refused) + " operators: " : std::string();
  throw InputError("backend " + std::string(backend.name()) + " cannot run " + count + reasons,
                   need::OtherBackend{});
}

void require_reads_in_place(const Backend& backend, const std::string& name) {
  if (const auto reason = backend.unsupported_in_place()) {
    throw InputError("backend " + std::string(backend.name()) + " cannot read the parameters of " +
                     name + " in place: " + *reason + "; plan loads for them instead");
  }
}

std::unique_ptr<BoundOperator> bind_operator(const CoarseGraph& coarse, const Model& model, OpId op,
                                             Backend& backend,
                                             std::span<const std::byte* const> inputs,
                                             std::byte* output, const CoreShare& share,
                                             TensorSource& source) {
  const Operation operation = operation_of(coarse, model, op);
  require_support(backend, std::span(&operation, 1));
  return backend.bind(operation, inputs, output, share, source);
}

}  // namespace hios
