#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hios/base/ids.h"

/// Batches: operators on some of a network's inputs. hios/graph/batches.h makes graphs of them.
namespace hios {

class Graph;

/// The largest number of inputs at once, in files and flags.
inline constexpr std::int64_t kMostInputs = 65536;

/// A range of the inputs that are there at once: [begin, end), counted from 0.
struct InputRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t size() const { return end - begin; }
  bool contains(std::int64_t input) const { return begin <= input && input < end; }
  auto operator<=>(const InputRange&) const = default;
};

/// Returns the intersection; its size is 0 or less where it is empty.
inline InputRange common(const InputRange& a, const InputRange& b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

/// Returns "[0, 4)".
inline std::string to_string(const InputRange& inputs) {
  return "[" + std::to_string(inputs.begin) + ", " + std::to_string(inputs.end) + ")";
}

/// An operator of the whole graph on some of the inputs.
struct Batch {
  OpId op;
  InputRange inputs;
  auto operator<=>(const Batch&) const = default;
};

/// The division of a whole graph's inputs that another graph represents. Immutable.
struct Batching {
  std::shared_ptr<const Graph> whole;
  std::int64_t inputs = 1;     ///< number of the whole graph's inputs
  std::vector<Batch> batches;  ///< by OpId of the dividing graph; ascending
  std::vector<OpId> first;     ///< by OpId of the whole: its first batch; one more at the end

  const Batch& of(OpId vertex) const { return batches[vertex.index()]; }
  /// Returns the batches of an operator of the whole, [first, second), by increasing inputs.
  std::pair<OpId, OpId> batches_of(OpId op) const {
    return {first[op.index()], first[op.index() + 1]};
  }
  /// Returns the batch that holds an input. REQUIRES: 0 <= input < inputs.
  OpId holder(OpId op, std::int64_t input) const {
    auto vertex = first[op.index()].index();
    while (!batches[vertex].inputs.contains(input)) ++vertex;
    return OpId(vertex);
  }
};

}  // namespace hios
