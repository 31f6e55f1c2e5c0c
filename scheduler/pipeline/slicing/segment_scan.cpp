#include "scheduler/pipeline/slicing/segment_scan.h"

#include <algorithm>

namespace hios::scheduler::pipeline {

SegmentScan::SegmentScan(const PipelineProblem& problem, std::span<const Vertex> order)
    : sent_(order.size()),
      arrivals_(order.size()),
      closed_(order.size()),
      open_ms_(order.size(), 0),
      received_(order.size()) {
  std::vector<std::size_t> position(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  std::vector<std::size_t> consumers;
  for (const PipelineTensor& tensor : problem.tensors()) {
    const std::size_t producer = position[tensor.producer];
    consumers.clear();
    for (const Vertex consumer : tensor.consumers) consumers.push_back(position[consumer]);
    std::sort(consumers.begin(), consumers.end());
    std::size_t previous = producer;
    for (const std::size_t consumer : consumers) {
      arrivals_[consumer].push_back({previous, tensor.ms, static_cast<std::int64_t>(tensor.bytes)});
      previous = consumer;
    }
    sent_[producer].push_back({tensor.ms, previous});
    closed_[previous].push_back(producer);
  }
}

bool SegmentScan::advance() {
  if (started_) ++end_;
  started_ = true;
  if (end_ >= sent_.size()) return false;
  begin_ = end_ + 1;
  traffic_ = {};
  received_bytes_ = 0;
  for (const Arrival& arrival : arrivals_[end_]) {
    received_[end_].ms += arrival.ms;
    received_[end_].bytes += arrival.bytes;
    received_[arrival.previous].ms -= arrival.ms;
    received_[arrival.previous].bytes -= arrival.bytes;
  }
  const auto sum_open = [&](std::size_t producer) {  // from scratch, without rounding
    open_ms_[producer] = 0;
    for (const Sent& each : sent_[producer]) {
      if (each.last > end_) open_ms_[producer] += each.ms;
    }
  };
  sum_open(end_);
  for (const std::size_t producer : closed_[end_]) sum_open(producer);
  return true;
}

void SegmentScan::extend() {
  --begin_;
  traffic_.receive_ms += received_[begin_].ms;
  traffic_.send_ms += open_ms_[begin_];
  received_bytes_ += received_[begin_].bytes;
}

}  // namespace hios::scheduler::pipeline
