#pragma once

#include <initializer_list>
#include <string>
#include <tuple>
#include <vector>

#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"

namespace hios::test {

/// An edge by 1-based operator numbers, as in the papers, and its transfer in ms.
struct SmallEdge {
  std::size_t from, to;
  double transfer_ms;
};

/// Returns a graph of operators v1, v2, … with these times.
inline Graph small_graph(std::initializer_list<double> times_ms,
                         std::initializer_list<SmallEdge> edges, StageCostRule rule = {}) {
  std::vector<Operator> operators;
  for (double ms : times_ms) {
    Operator op;
    op.name = std::string("v").append(std::to_string(operators.size() + 1));
    op.time_ms = ms;
    op.has_time = true;
    op.utilization = 0.5;
    operators.push_back(op);
  }
  std::vector<Edge> list;
  for (const SmallEdge& small : edges) {
    Edge edge;
    edge.from = OpId(small.from - 1);
    edge.to = OpId(small.to - 1);
    edge.transfer_ms = small.transfer_ms;
    edge.size_bytes = 1000;
    list.push_back(edge);
  }
  return Graph("small", std::move(operators), std::move(list), rule);
}

/// Operators by 1-based numbers and devices by their index.
inline constexpr OpId v1(0), v2(1), v3(2), v4(3);
inline constexpr DeviceId d0(0), d1(1), d2(2), d3(3);

/// Returns operators by 1-based numbers.
inline std::vector<OpId> v(std::initializer_list<std::size_t> numbers) {
  std::vector<OpId> result;
  for (std::size_t number : numbers) result.push_back(OpId(number - 1));
  return result;
}

/// Returns a stage whose groups are lists of 1-based numbers.
inline Stage stage(std::initializer_list<std::initializer_list<std::size_t>> groups) {
  Stage result;
  for (const auto& group : groups) result.groups.push_back(v(group));
  return result;
}

}  // namespace hios::test
