#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/backend/backend.h"
#include "hios/graph/fusion/fusion.h"

/// Buffers bound to the form that an operator has (hios/graph/fusion/fusion.h).
namespace hios {

/// A tensor outside the operation, bound by the caller.
struct Source {
  const std::byte* data = nullptr;
  Shape shape;
  /// For a slice of channels: the first of them in the tensor that starts at `data`, and the number
  /// of values that this tensor has a pixel. 0: all of the tensor.
  std::int64_t first_channel = 0, whole_channels = 0;

  /// Returns the distance from a pixel to the next, in values.
  std::int64_t pixel_stride() const { return whole_channels > 0 ? whole_channels : shape.c; }
  /// REQUIRES: elements are fp32.
  const float* floats() const { return reinterpret_cast<const float*>(data); }
};

/// The inputs of an operation with their addresses. Refers to its arguments.
class BoundInputs {
 public:
  /// `pointers` are those of Backend::bind. Throws std::logic_error where their number is not that
  /// of the operation's inputs.
  BoundInputs(const Operation& operation, std::span<const std::byte* const> pointers);

  Source operator[](InputIndex input) const;
  std::vector<Source> operator[](std::span<const InputIndex> inputs) const;
  /// Returns the terms of each of the form's ranges, or their slices, if it has some.
  std::vector<std::vector<Source>> operator[](const CombineForm& form) const;

  /// Returns the inputs of a part of the operation, to bind it. `made`: the outputs of the parts
  /// before.
  std::vector<const std::byte*> of_part(const Part& part, std::span<std::byte* const> made) const;

 private:
  const Operation& operation_;
  std::span<const std::byte* const> pointers_;
};

}  // namespace hios
