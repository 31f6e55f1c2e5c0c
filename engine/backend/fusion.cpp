#include "engine/backend/fusion.h"

#include <stdexcept>
#include <string>

namespace hios {

BoundInputs::BoundInputs(const Operation& operation, std::span<const std::byte* const> pointers)
    : operation_(operation), pointers_(pointers) {
  if (pointers.size() != operation.layers->inputs.size()) {
    throw std::logic_error(operation.name + " has " +
                           std::to_string(operation.layers->inputs.size()) + " inputs, bound to " +
                           std::to_string(pointers.size()));
  }
}

Source BoundInputs::operator[](InputIndex input) const {
  return {pointers_[input.index()], operation_.layers->input_shapes[input.index()]};
}

std::vector<Source> BoundInputs::operator[](std::span<const InputIndex> inputs) const {
  std::vector<Source> sources;
  for (const InputIndex input : inputs) sources.push_back((*this)[input]);
  return sources;
}

std::vector<std::vector<Source>> BoundInputs::operator[](const CombineForm& form) const {
  std::vector<std::vector<Source>> ranges;
  for (const std::vector<InputIndex>& terms : form.ranges) ranges.push_back((*this)[terms]);
  for (std::size_t i = 0; i < form.slices.size(); ++i) {
    const auto [first, count] = form.slices[i];
    if (count == 0) continue;
    Source& source = ranges[i].front();
    source.whole_channels = source.shape.c;
    source.first_channel = first;
    source.shape.c = count;
  }
  return ranges;
}

std::vector<const std::byte*> BoundInputs::of_part(const Part& part,
                                                   std::span<std::byte* const> made) const {
  std::vector<const std::byte*> pointers;
  for (const Operand& operand : part.operands) {
    pointers.push_back(operand.made_inside ? made[operand.index] : pointers_[operand.index]);
  }
  return pointers;
}

}  // namespace hios
