#include "scheduler/pipeline/bounds/block_scan.h"

#include <algorithm>
#include <limits>

namespace hios::scheduler::pipeline {

BlockScan::BlockScan(const LeastCosts& costs, std::size_t device_class)
    : device_(&costs.classes()[device_class]),
      costs_(&costs),
      produced_(costs.size()),
      consumed_(costs.size()),
      largest_(costs.size(), 0),
      unread_(costs.size(), 0),
      inside_(costs.size(), false) {
  const PipelineProblem& problem = costs.problem();
  for (std::size_t t = 0; t < problem.tensors().size(); ++t) {
    produced_[problem.tensors()[t].producer].push_back(t);
    for (const Vertex consumer : problem.tensors()[t].consumers) consumed_[consumer].push_back(t);
  }
  outside_.assign(problem.tensors().size(), 0);
  inside_consumers_.assign(problem.tensors().size(), 0);
  for (Vertex v = 0; v < problem.size(); ++v) {
    for (const OpId op : problem.vertices()[v].ops) {
      const Bytes bytes = tensor_bytes(problem.graph(), op);
      largest_[v] = std::max(largest_[v], bytes);
      if (problem.graph().out_edges(op).empty()) unread_[v] += static_cast<double>(bytes);
    }
  }
}

BlockScan::Sums BlockScan::add(Vertex vertex) {
  const Sums before = sums_;
  const std::vector<PipelineTensor>& tensors = costs_->problem().tensors();
  const PipelineVertex& each = costs_->problem().vertices()[vertex];
  inside_[vertex] = true;
  sums_.work_ms += device_->work_ms[vertex];
  sums_.parameters += each.parameters;
  sums_.held += each.held;
  sums_.largest = std::max(sums_.largest, largest(vertex));
  sums_.kept_bytes += unread_[vertex];
  for (const std::size_t t : produced_[vertex]) {
    outside_[t] = static_cast<std::uint32_t>(tensors[t].consumers.size());
    sums_.send_ms += tensors[t].ms;
    sums_.kept_bytes += static_cast<double>(tensors[t].bytes);
  }
  for (const std::size_t t : consumed_[vertex]) {
    if (inside_[tensors[t].producer]) {
      if (--outside_[t] > 0) continue;
      sums_.send_ms -= tensors[t].ms;
      sums_.kept_bytes -= static_cast<double>(tensors[t].bytes);
    } else if (inside_consumers_[t]++ == 0) {
      sums_.receive_ms += tensors[t].ms;
      sums_.received_bytes += static_cast<double>(tensors[t].bytes);
    }
  }
  return before;
}

void BlockScan::remove(Vertex vertex, const Sums& before) {
  const std::vector<PipelineTensor>& tensors = costs_->problem().tensors();
  inside_[vertex] = false;
  for (const std::size_t t : consumed_[vertex]) {
    if (inside_[tensors[t].producer]) {
      ++outside_[t];
    } else {
      --inside_consumers_[t];
    }
  }
  sums_ = before;
}

/// Returns the bytes held while the vertex, or its largest operator, runs.
Bytes BlockScan::largest(Vertex vertex) const {
  Bytes bytes = largest_[vertex];
  if (costs_->problem().vertices()[vertex].ops.size() > 1) return bytes;
  for (const std::size_t t : consumed_[vertex]) {
    const PipelineTensor& tensor = costs_->problem().tensors()[t];
    if (inside_[tensor.producer]) bytes += tensor.bytes;
  }
  return bytes;
}

double BlockScan::overflow(double activations) const {
  const FastMemory& memory = device_->fast_memory;
  if (memory.bytes == 0) return 0;
  const auto line = overflow_line(memory);
  const double bytes = static_cast<double>(sums_.parameters) + activations;
  return std::max(0.0, bytes - line.bytes) * line.ms_per_byte;
}

double BlockScan::least_ms() const {
  if (device_->memory_bytes > 0 && sums_.held > device_->memory_bytes)
    return std::numeric_limits<double>::infinity();
  return sums_.work_ms + overflow(static_cast<double>(sums_.largest));
}

double BlockScan::ms() const {
  return sums_.work_ms + sums_.receive_ms * device_->charge.receive +
         sums_.send_ms * device_->charge.send +
         overflow(sums_.received_bytes +
                  std::max(static_cast<double>(sums_.largest), sums_.kept_bytes));
}

}  // namespace hios::scheduler::pipeline
