#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/bounds/places.h"
#include "scheduler/bounds/shares.h"

namespace hios::scheduler {

/// An edge as the other end sees it.
struct Arc {
  std::uint32_t other = 0;
  bool may_share = true;   ///< some device can be the place of both ends
  double transfer_ms = 0;  ///< the least between two devices; infinity where both always share one
};

/// What bounds ask of a graph, or of a part of it: operators 0, 1, … in topological order.
struct Problem {
  std::vector<OpId> ops;            ///< by number
  std::vector<double> path_ms;      ///< the least share over all devices that it can come to
  std::vector<double> window_ms;    ///< likewise
  std::vector<std::uint32_t> home;  ///< operators of equal home share a device for certain
  std::size_t devices = 1;          ///< that can run at least one of them
  std::vector<Arc> inputs;          ///< by operator
  std::vector<Arc> outputs;         ///< by operator
  std::vector<std::size_t> input_begin, output_begin;  ///< size() + 1 each
  const Places* places = nullptr;

  std::size_t size() const { return ops.size(); }
  std::span<const Arc> inputs_of(std::size_t op) const {
    return {inputs.data() + input_begin[op], input_begin[op + 1] - input_begin[op]};
  }
  std::span<const Arc> outputs_of(std::size_t op) const {
    return {outputs.data() + output_begin[op], output_begin[op + 1] - output_begin[op]};
  }
};

/// Makes problems of parts of a graph; what it refers to must outlive it and them.
class Parts {
 public:
  Parts(const Graph& graph, const Shares& shares, Places& places);
  /// These operators, in topological order, and the edges among them. Linear in both.
  Problem part(std::vector<OpId> operators);
  Problem whole();

 private:
  const Graph* graph_;
  const Shares* shares_;
  Places* places_;
  std::vector<std::uint32_t> number_;  // by OpId: in the part at work
};

/// Makes the outputs from the inputs.
void mirror_inputs(Problem& problem);

/// The same problem with time turned round: the last operator is number 0. A schedule run backwards
/// is a schedule of the reversed problem, with heads and tails exchanged.
Problem reversed(const Problem& problem);

}  // namespace hios::scheduler
