#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hios/base/ids.h"

/// How operators share the inputs of a network among several runs of each: the words. What makes
/// graphs of them is in hios/graph/batches.h.
namespace hios {

class Graph;

/// At once, in files and flags.
inline constexpr std::int64_t kMostInputs = 65536;

/// Some of the inputs that a network is given at once, neighbours: [begin, end), counted from 0.
struct InputRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t size() const { return end - begin; }
  bool contains(std::int64_t input) const { return begin <= input && input < end; }
  auto operator<=>(const InputRange&) const = default;
};

/// What both have; of size 0 or less where that is nothing.
inline InputRange common(const InputRange& a, const InputRange& b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

/// "[0, 4)".
inline std::string to_string(const InputRange& inputs) {
  return "[" + std::to_string(inputs.begin) + ", " + std::to_string(inputs.end) + ")";
}

/// An operator of a whole graph on some of the inputs.
struct Batch {
  OpId op;
  InputRange inputs;
  auto operator<=>(const Batch&) const = default;
};

/// How a graph divides the inputs of another. Immutable.
struct Batching {
  std::shared_ptr<const Graph> whole;
  std::int64_t inputs = 1;     ///< of the whole
  std::vector<Batch> batches;  ///< by OpId of the dividing graph; increasing
  std::vector<OpId> first;     ///< by OpId of the whole: its first batch; one more at the end

  const Batch& of(OpId vertex) const { return batches[vertex.index()]; }
  /// The batches of an operator of the whole, [first, second), by increasing inputs.
  std::pair<OpId, OpId> batches_of(OpId op) const {
    return {first[op.index()], first[op.index() + 1]};
  }
  /// The one that holds an input. REQUIRES: 0 <= input < inputs.
  OpId holder(OpId op, std::int64_t input) const {
    auto vertex = first[op.index()].index();
    while (!batches[vertex].inputs.contains(input)) ++vertex;
    return OpId(vertex);
  }
};

}  // namespace hios
