#include "hios/model/named_inputs.h"

#include <algorithm>

namespace hios {
namespace {

std::int64_t count_of(const NamedInput& input) {
  std::int64_t count = 1;
  for (const std::int64_t extent : input.dims) count *= extent;
  return count;
}

/// Returns the number of rows in which each named input has an equal share of its values.
std::int64_t rows_of(std::span<const NamedInput> inputs) {
  const auto first = [](const NamedInput& input) {
    return input.dims.empty() ? std::int64_t{1} : input.dims.front();
  };
  const std::int64_t rows = first(inputs.front());
  const bool equal =
      std::ranges::all_of(inputs, [&](const NamedInput& each) { return first(each) == rows; });
  // Inputs of one dimension each have no batch.
  const bool batch =
      std::ranges::any_of(inputs, [](const NamedInput& each) { return each.dims.size() > 1; });
  return equal && batch ? rows : 1;
}

/// Calls visit(index in memory, index in row-major order) for each value of an image.
template <class Visit>
void each_value(std::span<const std::int64_t> dims, Visit&& visit) {
  const std::int64_t channels = dims[1], pixels = dims[2] * dims[3];
  std::size_t memory = 0;
  for (std::int64_t n = 0; n < dims[0]; ++n) {
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
      for (std::int64_t c = 0; c < channels; ++c) {
        visit(memory++, static_cast<std::size_t>((n * channels + c) * pixels + pixel));
      }
    }
  }
}

}  // namespace

std::vector<InputPlace> places_of(std::span<const NamedInput> inputs) {
  const std::int64_t rows = rows_of(inputs);
  std::vector<InputPlace> places;
  std::int64_t stride = 0;
  for (const NamedInput& input : inputs) {
    const std::int64_t count = count_of(input) / rows;
    places.push_back({rows, 0, stride, count});
    stride += count;
  }
  for (InputPlace& place : places) place.stride = stride;
  return places;
}

Shape joined_shape(std::span<const NamedInput> inputs) {
  const InputPlace place = places_of(inputs).front();
  return {place.rows, place.stride, 1, 1};
}

void put(std::span<const float> values, const InputPlace& place, std::span<float> input) {
  for (std::int64_t row = 0; row < place.rows; ++row) {
    const auto from = static_cast<std::size_t>(row * place.count);
    std::ranges::copy(values.subspan(from, static_cast<std::size_t>(place.count)),
                      input.begin() + row * place.stride + place.offset);
  }
}

std::vector<float> in_memory_order(std::vector<float> row_major,
                                   std::span<const std::int64_t> dims) {
  if (dims.size() != 4) return row_major;
  std::vector<float> result(row_major.size());
  each_value(dims, [&](std::size_t memory, std::size_t row) { result[memory] = row_major[row]; });
  return result;
}

std::vector<float> in_row_major_order(std::vector<float> memory,
                                      std::span<const std::int64_t> dims) {
  if (dims.size() != 4) return memory;
  std::vector<float> result(memory.size());
  each_value(dims, [&](std::size_t index, std::size_t row) { result[row] = memory[index]; });
  return result;
}

}  // namespace hios
