// Functions of one value and of two, and sums of many. Each value is computed in double precision
// and rounded once.
#include <algorithm>
#include <array>

#include "engine/backend/layers/functions.h"
#include "engine/reference/loops.h"

namespace hios::reference {

void unary(const Unary& unary, const Input& in, const Output& out) {
  for (std::int64_t i = 0; i < out.shape.elements(); ++i) {
    out.data[i] = static_cast<float>(
        functions::value_of<double>(unary.function, unary.alpha, unary.beta, in.data[i]));
  }
}

void binary(const Binary& binary, const Input& left, const Input& right, const Output& out) {
  float* next = out.data;
  for_each_index(out.shape, [&](const Index& at) {
    *next++ = static_cast<float>(functions::value_of<double>(
        binary.function, broadcast_value(left, at), broadcast_value(right, at)));
  });
}

void relu(const Input& in, const Output& out) {
  for (std::int64_t i = 0; i < out.shape.elements(); ++i) out.data[i] = std::max(in.data[i], 0.0f);
}

void sum(std::span<const Input> in, const Output& out) {
  for (std::int64_t first = 0; first < out.shape.elements(); first += kBlock) {
    const std::int64_t count = std::min(kBlock, out.shape.elements() - first);
    std::array<double, kBlock> sums{};
    for (const Input& term : in) add_values(sums.data(), term.data + first, count);
    for (std::int64_t i = 0; i < count; ++i) out.data[first + i] = static_cast<float>(sums[i]);
  }
}

}  // namespace hios::reference
