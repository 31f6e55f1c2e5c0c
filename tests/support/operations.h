#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/backend.h"

namespace hios::test {

/// One operator by itself: what a backend is asked to bind. The model holds the operator's layers
/// and, where the operator reads several tensors, a layer in front for each of them, which belongs
/// to no operator and never runs.
struct OperationCase {
  std::string name;  ///< letters, digits and underscores; unique
  Model model;
  OperatorLayers layers;

  /// Refers to this case, which must outlive it.
  Operation operation() const { return {&model, &layers, name, name}; }
  const Shape& output_shape() const { return model.tensor(layers.output).shape; }
};

/// Every kind of operator that `coarsen` makes, each over odd shapes, strides, padding, groups and
/// channel counts that fill no vector, some with a batch of two.
const std::vector<OperationCase>& operation_cases();

/// Binds the case to inputs drawn from `seed` (about half of them negative), weights from a
/// SeededSource of the same seed, runs it alone on `threads` cores and returns its output.
/// Throws std::runtime_error if the backend wrote beside the output; what it did not write is NaN.
std::vector<float> run_operation(Backend& backend, const OperationCase& operation_case, int threads,
                                 std::uint64_t seed);

}  // namespace hios::test
