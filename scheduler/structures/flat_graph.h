#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hios::scheduler {

/// A graph or subgraph for inner loops: operators 0, 1, … with their input edges contiguous in one
/// array and their output edges in another. `Edge` holds the data that the user needs of an edge at
/// one of its ends. Immutable but for change_inputs() and mirror().
template <class Edge>
class FlatGraph {
 public:
  FlatGraph() = default;

  /// each_input(op, add) calls add(edge) for every edge that leads to the operator, each_output for
  /// every edge that leads from it. Their order is kept.
  template <class EachInput, class EachOutput>
  FlatGraph(std::size_t operators, EachInput each_input, EachOutput each_output)
      : inputs_(operators, each_input), outputs_(operators, each_output) {}

  /// Builds the outputs by mirroring the inputs. REQUIRES: Edge::other is the operator at the other
  /// end.
  template <class EachInput>
  FlatGraph(std::size_t operators, EachInput each_input) : inputs_(operators, each_input) {
    mirror();
  }

  std::size_t operators() const { return inputs_.begin.size() - 1; }
  std::size_t edges() const { return inputs_.edges.size(); }
  std::span<const Edge> inputs(std::size_t op) const { return inputs_.of(op); }
  std::span<const Edge> outputs(std::size_t op) const { return outputs_.of(op); }

  /// Calls change(edge, op) for each input of each operator. It may change an edge's data, not its
  /// ends. The outputs follow only after mirror().
  template <class Change>
  void change_inputs(Change change) {
    for (std::size_t op = 0; op < operators(); ++op) {
      for (std::size_t i = inputs_.begin[op]; i < inputs_.begin[op + 1]; ++i) {
        change(inputs_.edges[i], op);
      }
    }
  }

  /// Builds the outputs from the inputs, in the order of the operators that they lead to.
  void mirror() {
    outputs_.begin.assign(operators() + 1, 0);
    for (const Edge& edge : inputs_.edges) ++outputs_.begin[edge.other + 1];
    for (std::size_t op = 0; op < operators(); ++op) outputs_.begin[op + 1] += outputs_.begin[op];
    outputs_.edges.resize(inputs_.edges.size());
    std::vector<std::size_t> next(outputs_.begin.begin(), outputs_.begin.end() - 1);
    for (std::size_t op = 0; op < operators(); ++op) {
      for (Edge edge : inputs(op)) {
        Edge& output = outputs_.edges[next[edge.other]++];
        edge.other = static_cast<std::uint32_t>(op);
        output = edge;
      }
    }
  }

  /// Returns the graph with every edge reversed and the operators in reverse order: the last
  /// becomes number 0.
  FlatGraph reversed() const {
    const std::size_t last = operators() - 1;  // unused if there are no operators
    return FlatGraph(operators(), [&](std::size_t op, auto add) {
      for (Edge edge : outputs(last - op)) {
        edge.other = static_cast<std::uint32_t>(last - edge.other);
        add(edge);
      }
    });
  }

 private:
  struct List {
    std::vector<std::size_t> begin{0};  // index of its first edge, by operator, and the end
    std::vector<Edge> edges;

    List() = default;
    template <class Each>
    List(std::size_t operators, Each each) {
      begin.reserve(operators + 1);
      for (std::size_t op = 0; op < operators; ++op) {
        each(op, [this](const Edge& edge) { edges.push_back(edge); });
        begin.push_back(edges.size());
      }
    }
    std::span<const Edge> of(std::size_t op) const {
      return {edges.data() + begin[op], begin[op + 1] - begin[op]};
    }
  };

  List inputs_, outputs_;
};

}  // namespace hios::scheduler
