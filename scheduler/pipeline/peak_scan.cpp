#include "scheduler/pipeline/peak_scan.h"

#include <algorithm>
#include <limits>

namespace hios::scheduler::pipeline {

PeakScan::PeakScan(const PipelineProblem& problem, std::span<const Vertex> order) {
  const Graph& graph = problem.graph();
  std::vector<std::size_t> place(graph.size());
  std::vector<OpId> listed;
  for (const Vertex vertex : order) {
    first_.push_back(listed.size());
    for (const OpId op : problem.vertices()[vertex].ops) {
      place[op.index()] = listed.size();
      listed.push_back(op);
    }
  }
  first_.push_back(listed.size());
  for (const OpId op : listed) {
    Operator each{static_cast<std::int64_t>(tensor_bytes(graph, op)), false, {}};
    for (const EdgeId edge : graph.out_edges(op)) {
      each.readers.push_back(place[graph.edge(edge).to.index()]);
    }
    each.read = !each.readers.empty();
    std::sort(each.readers.begin(), each.readers.end());
    ops_.push_back(std::move(each));
  }
  held_.resize(listed.size());
  most_behind_.resize(listed.size() + 1);
}

void PeakScan::restart(std::size_t end) {
  begin_ = end + 1;
  end_op_ = first_[begin_];
  kept_ = 0;
  most_behind_[end_op_] = std::numeric_limits<std::int64_t>::min();
}

void PeakScan::extend() {
  --begin_;
  for (std::size_t op = first_[begin_ + 1]; op-- > first_[begin_];) add_front(op);
}

void PeakScan::add_front(std::size_t op) {
  const Operator& each = ops_[op];
  held_[op] = -kept_;
  std::size_t last = op;
  if (!each.read || each.readers.back() >= end_op_) {
    kept_ += each.bytes;
  } else {
    last = each.readers.back();
    for (std::size_t at = op; at <= last; ++at) held_[at] += each.bytes;
  }
  for (std::size_t at = last + 1; at-- > op;) {
    most_behind_[at] = std::max(held_[at], most_behind_[at + 1]);
  }
}

Bytes PeakScan::bytes() const {
  const std::size_t first = first_[begin_];
  return first == end_op_ ? 0 : static_cast<Bytes>(kept_ + most_behind_[first]);
}

}  // namespace hios::scheduler::pipeline
