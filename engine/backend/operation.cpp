#include "engine/backend/operation.h"

#include "hios/base/error.h"
#include "hios/base/need.h"

namespace hios {

Operation operation_of(const CoarseGraph& coarse, const Model& model, OpId op) {
  const Operator& described = coarse.graph.op(op);
  return {&coarse.model_of(op, model), &coarse.layers(op), described.name, described.signature};
}

Operation operation_of(const Operation& whole, const Part& part) {
  return {whole.model, &part.layers, whole.name, whole.signature};
}

std::optional<std::string> inexact_indices(const Operation& operation, Precision precision) {
  constexpr std::int64_t kMostInHalves = 2048;
  if (precision != Precision::kFp16) return {};
  for (const LayerId id : operation.layers->layers) {
    const Layer& layer = operation.model->layer(id);
    const auto* const top = std::get_if<TopK>(&layer.kind);
    const std::int64_t ranked = layer.input_shapes.front().c;
    if (top != nullptr && top->positions && ranked > kMostInHalves) {
      return layer.name + " finds positions among " + std::to_string(ranked) +
             " values, and fp16 holds whole numbers up to " + std::to_string(kMostInHalves);
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
