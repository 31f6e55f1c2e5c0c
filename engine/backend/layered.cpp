#include "engine/backend/layered.h"

#include "engine/backend/operation.h"

namespace hios {

void LayeredOperator::run() {
  for (const auto& part : parts_) part->run();
}

void LayeredOperator::bind_parts(const Operation& operation, const BoundInputs& inputs,
                                 std::byte* output, const MakeBuffer& make_buffer,
                                 const BindPart& bind_part) {
  std::vector<std::byte*> made;  // by part
  for (const Part& part : parts_of(*operation.model, *operation.layers)) {
    const std::vector<const std::byte*> part_inputs = inputs.of_part(part, made);
    const TensorId result = part.layers.output;
    const bool last = result == operation.layers->output;
    made.push_back(last ? output : make_buffer(operation.model->tensor(result).shape));
    const Operation part_operation = operation_of(operation, part);
    parts_.push_back(bind_part(part_operation, {part_operation, part_inputs}, made.back()));
  }
}

}  // namespace hios
