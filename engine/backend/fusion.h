#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/backend/backend.h"
#include "hios/graph/fusion/fusion.h"

/// Buffers bound to the form that an operator has (hios/graph/fusion/fusion.h).
namespace hios {

/// A tensor outside the operation, as the caller has bound it.
struct Source {
  const std::byte* data = nullptr;
  Shape shape;
  /// Where it is a slice of channels: the first of them in the tensor that starts at `data`, and
  /// how many values that has a pixel. 0: it is all of the tensor.
  std::int64_t first_channel = 0, whole_channels = 0;

  /// From a pixel to the next, in values.
  std::int64_t pixel_stride() const { return whole_channels > 0 ? whole_channels : shape.c; }
  /// REQUIRES: elements are fp32.
  const float* floats() const { return reinterpret_cast<const float*>(data); }
};

/// The inputs of an operation and where each of them lies. Refers to its arguments.
class BoundInputs {
 public:
  /// `pointers` are those of Backend::bind. Throws std::logic_error where they are not as many as
  /// the operation has inputs.
  BoundInputs(const Operation& operation, std::span<const std::byte* const> pointers);

  Source operator[](InputIndex input) const;
  std::vector<Source> operator[](std::span<const InputIndex> inputs) const;
  /// The terms of each of the form's ranges, their slices where it has some.
  std::vector<std::vector<Source>> operator[](const CombineForm& form) const;

  /// What a part of the operation reads, to bind it with. `made`: the outputs of the parts before.
  std::vector<const std::byte*> of_part(const Part& part, std::span<std::byte* const> made) const;

 private:
  const Operation& operation_;
  std::span<const std::byte* const> pointers_;
};

}  // namespace hios
