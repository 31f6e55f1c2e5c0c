#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/backend/backend.h"

namespace hios::test {

/// The range of a case's random inputs, uniform in [low, high).
struct InputRange {
  double low = -2, high = 2;
};

/// One operator alone, for a backend to bind. The model holds the operator's layers. If the
/// operator reads several tensors, it also holds a layer before it for each of them, which belongs
/// to no operator and never runs.
struct OperationCase {
  std::string name;  ///< letters, digits and underscores; unique
  Model model;
  OperatorLayers layers;
  InputRange range = {};

  /// Refers to this case, which must outlive it.
  Operation operation() const { return {&model, &layers, name, name}; }
  const Shape& output_shape() const { return model.tensor(layers.output).shape; }
};

/// Adds an operator's layers to a model; it may read the tensors given.
using BuildOperator = std::function<void(ModelBuilder&, std::span<const TensorId>)>;

/// Makes an operator of all layers that `build` adds. It may read tensors of `channels` channels
/// (with the extent of `input`); none given: only the model's input.
OperationCase make_operation(std::string name, const Shape& input,
                             const std::vector<std::int64_t>& channels, const BuildOperator& build);

/// Makes an operator of all layers that `build` adds, over tensors of these shapes; one shape: that
/// of the model's input.
OperationCase make_operation(std::string name, const std::vector<Shape>& inputs,
                             const BuildOperator& build);

/// Returns every kind of operator that `coarsen` makes, each over odd shapes, strides, padding,
/// groups and channel counts that fill no vector, some with a batch of two.
const std::vector<OperationCase>& operation_cases();

/// Returns the reference backend with this arithmetic.
std::unique_ptr<Backend> reference_in(Precision precision);

/// Binds the case to `inputs`, runs it alone on `threads` cores and returns its output; values that
/// it did not write are NaN. The inputs are NHWC, one for each different tensor that it reads, in
/// the order of their first use. Throws std::runtime_error if the backend wrote outside the output.
std::vector<float> run_operation(Backend& backend, const OperationCase& operation_case, int threads,
                                 const std::vector<std::vector<float>>& inputs,
                                 TensorSource& source);

/// Returns inputs for run_operation, uniform in the case's range.
std::vector<std::vector<float>> random_inputs(const OperationCase& operation_case,
                                              std::uint64_t seed);

/// The same with random inputs and the weights of a SeededSource of the same seed.
std::vector<float> run_operation(Backend& backend, const OperationCase& operation_case, int threads,
                                 std::uint64_t seed);

}  // namespace hios::test
