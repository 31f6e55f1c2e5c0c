#include "scheduler/pipeline/slicing/peak_scan.h"

#include <algorithm>

// An operator added at the front holds its tensor from itself to its last consumer: during a prefix
// of the segment. So an operator that holds no more than an earlier one can never be the peak,
// whatever is added in front. The others are steps, each higher than the one before. A tensor lifts
// steps up to its last consumer, and the next step then rises by less, or is no step any more. A
// removed step points to the next one (union-find with path halving). Test:
// tests/scheduler/pipeline/slicing/slicing_test.cpp.

namespace hios::scheduler::pipeline {

PeakScan::PeakScan(const PipelineProblem& problem, std::span<const Vertex> order) {
  const Graph& graph = problem.graph();
  std::vector<std::size_t> position(graph.size());
  std::vector<OpId> listed;
  for (const Vertex vertex : order) {
    first_.push_back(listed.size());
    for (const OpId op : problem.vertices()[vertex].ops) {
      position[op.index()] = listed.size();
      listed.push_back(op);
    }
  }
  first_.push_back(listed.size());
  for (const OpId op : listed) {
    Operator each{static_cast<std::int64_t>(tensor_bytes(graph, op)), false, 0};
    for (const EdgeId edge : graph.out_edges(op)) {
      each.read = true;
      each.last = std::max(each.last, position[graph.edge(edge).to.index()]);
    }
    ops_.push_back(each);
  }
  rise_.resize(listed.size());
  next_.resize(listed.size() + 1);
}

void PeakScan::restart(std::size_t end) {
  begin_ = end + 1;
  end_op_ = first_[begin_];
  kept_ = front_ = most_ = 0;
  next_[end_op_] = end_op_;
}

void PeakScan::extend() {
  --begin_;
  for (std::size_t op = first_[begin_ + 1]; op-- > first_[begin_];) add_front(op);
}

/// Returns the first step from there on, or the segment's end.
std::size_t PeakScan::step_from(std::size_t op) {
  while (next_[op] != op) {
    next_[op] = next_[next_[op]];
    op = next_[op];
  }
  return op;
}

/// Removes steps that do not rise any more, from this one on.
void PeakScan::settle(std::size_t op) {
  while (op != end_op_ && rise_[op] <= 0) {
    const std::int64_t rise = rise_[op];
    next_[op] = op + 1;
    op = step_from(op + 1);
    if (op == end_op_) {
      most_ -= rise;
    } else {
      rise_[op] += rise;
    }
  }
}

void PeakScan::add_front(std::size_t op) {
  const Operator& each = ops_[op];
  const std::int64_t before = front_;
  front_ = -kept_;
  next_[op] = op;
  if (const std::size_t after = step_from(op + 1); after == end_op_) {
    most_ = front_;
  } else {  // the former front
    rise_[after] = before - front_;
    settle(after);
  }
  if (!each.read || each.last >= end_op_) {
    kept_ += each.bytes;
    return;
  }
  front_ += each.bytes;
  const std::size_t after = step_from(each.last + 1);
  if (after == end_op_) {
    most_ += each.bytes;
    return;
  }
  rise_[after] -= each.bytes;
  settle(after);
}

Bytes PeakScan::bytes() const {
  return first_[begin_] == end_op_ ? 0 : static_cast<Bytes>(kept_ + most_);
}

}  // namespace hios::scheduler::pipeline
