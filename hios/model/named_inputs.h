#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hios/model/tensor.h"

/// The tensors that a network's author calls its inputs. A Model has one input: that of the author,
/// or one that holds the values of several. So ranks, plans and files know no more than one.
///
/// Several named inputs lie one after the other as channels of (n, c, 1, 1), the values of each in
/// the order of memory. If the first extents of all are equal, that is n, the batch, and each row
/// has one of each; otherwise n is 1. Layers read them by Moves, which are ordinary layers.
///
/// Tests: tests/hios/model/named_inputs_test.cpp, tests/engine/onnx/several_inputs_test.cpp.
namespace hios {

/// An input with the name and dims that the model's author gave it.
struct NamedInput {
  std::string name;
  std::vector<std::int64_t> dims;  ///< extents, see NamedOutput::dims
  /// 0: floating-point numbers. Otherwise whole numbers from 0 to below this one: integers or truth
  /// values in the author's file. It is the number of rows of the table that they look up, if one
  /// is known, else 2.
  std::int64_t below = 0;
  /// True where a table is known: a number beyond it names no row.
  bool is_index = false;
  bool is_truth = false;  ///< truth values in the author's file: 0 and 1
};

/// Where the values of one named input lie in the model's input: `count` values from `offset` on in
/// each of `rows` rows, which are `stride` values apart.
struct InputPlace {
  std::int64_t rows = 1, stride = 0, offset = 0, count = 0;
};

/// Returns the places of all named inputs, in order.
std::vector<InputPlace> places_of(std::span<const NamedInput> inputs);

/// Returns the shape of a model's input that holds several named inputs.
Shape joined_shape(std::span<const NamedInput> inputs);

/// Copies the values of one named input, in the order of memory, to their place.
void put(std::span<const float> values, const InputPlace& place, std::span<float> input);

/// Convert values between row-major order and the order of memory (see NamedOutput::dims).
/// REQUIRES: as many values as the product of dims.
std::vector<float> in_memory_order(std::vector<float> row_major,
                                   std::span<const std::int64_t> dims);
std::vector<float> in_row_major_order(std::vector<float> memory,
                                      std::span<const std::int64_t> dims);

}  // namespace hios
