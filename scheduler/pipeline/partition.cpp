#include "scheduler/pipeline/partition.h"

#include <algorithm>
#include <limits>

namespace hios::scheduler::pipeline {

Partition::Partition(const PipelineProblem& problem, std::span<const Vertex> order,
                     const Slicing& slicing)
    : problem_(&problem),
      block_of_(problem.size(), 0),
      place_(problem.size(), 0),
      rank_(problem.size(), 0),
      touched_(problem.size()) {
  for (std::size_t i = 0; i < problem.size(); ++i) rank_[problem.given_order()[i]] = i;
  std::vector<std::size_t> left;  // devices, by class
  for (const PipelineClass& each : problem.classes()) left.push_back(each.devices.size());
  for (const Slice& slice : slicing.slices) {
    --left[slice.device_class];
    blocks_.emplace_back().device_class = slice.device_class;
    for (std::size_t at = slice.begin; at < slice.end; ++at) add(order[at], blocks_.size() - 1);
  }
  for (std::size_t c = 0; c < left.size(); ++c) {
    for (; left[c] > 0; --left[c]) blocks_.emplace_back().device_class = c;
  }
  count_tensors();
  for (Block& block : blocks_) price(block);
}

void Partition::count_tensors() {
  const std::vector<PipelineTensor>& tensors = problem_->tensors();
  readers_.assign(tensors.size() * blocks_.size(), 0);
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    touched_[tensors[t].producer].push_back(t);
    for (const Vertex reader : tensors[t].readers) {
      touched_[reader].push_back(t);
      ++readers_[t * blocks_.size() + block_of_[reader]];
    }
    take_from_traffic(t, -1);
  }
}

double Partition::period_ms() const {
  double dearest = 0;
  for (const Block& block : blocks_) dearest = std::max(dearest, block.ms);
  return dearest;
}

std::pair<std::size_t, std::size_t> Partition::window(Vertex vertex) const {
  std::size_t first = 0, last = blocks_.size() - 1;
  for (const Vertex each : problem_->vertices()[vertex].before)
    first = std::max(first, block_of_[each]);
  for (const Vertex each : problem_->vertices()[vertex].behind)
    last = std::min(last, block_of_[each]);
  return {first, last};
}

bool Partition::has_room(Vertex vertex, std::size_t block) const {
  const PipelineClass& device = problem_->classes()[blocks_[block].device_class];
  if (device.work_ms[vertex] == std::numeric_limits<double>::infinity()) return false;
  return device.memory_bytes == 0 ||
         blocks_[block].held + problem_->vertices()[vertex].held <= device.memory_bytes;
}

void Partition::add(Vertex vertex, std::size_t to) {
  Block& block = blocks_[to];
  block_of_[vertex] = to;
  place_[vertex] = block.members.size();
  block.members.push_back(vertex);
  block.work_ms += problem_->classes()[block.device_class].work_ms[vertex];
  block.parameters += problem_->vertices()[vertex].parameters;
  block.held += problem_->vertices()[vertex].held;
}

void Partition::remove(Vertex vertex) {
  Block& block = blocks_[block_of_[vertex]];
  const Vertex last = block.members.back();
  block.members[place_[vertex]] = last;
  place_[last] = place_[vertex];
  block.members.pop_back();
  block.work_ms -= problem_->classes()[block.device_class].work_ms[vertex];
  block.parameters -= problem_->vertices()[vertex].parameters;
  block.held -= problem_->vertices()[vertex].held;
}

/// What the tensor costs the blocks, as it is now, out of (1) or into (-1) their sums.
void Partition::take_from_traffic(std::size_t tensor, double sign) {
  const PipelineTensor& each = problem_->tensors()[tensor];
  const std::size_t home = block_of_[each.producer];
  const std::uint32_t* const readers = &readers_[tensor * blocks_.size()];
  bool leaves = false;
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    if (block == home || readers[block] == 0) continue;
    leaves = true;
    blocks_[block].receive_ms -= sign * each.ms;
    blocks_[block].received_bytes -= sign * static_cast<double>(each.bytes);
  }
  if (leaves) blocks_[home].send_ms -= sign * each.ms;
}

void Partition::price(Block& block) const {
  const PipelineClass& device = problem_->classes()[block.device_class];
  block.ms =
      block.work_ms + block.receive_ms * device.charge.receive + block.send_ms * device.charge.send;
  if (device.fast_memory.bytes == 0 || block.members.empty()) return;
  Bytes largest = 0;
  for (const Vertex vertex : block.members) {
    for (const OpId op : problem_->vertices()[vertex].ops) {
      largest = std::max(largest, tensor_bytes(problem_->graph(), op));
    }
  }
  const auto received = static_cast<Bytes>(std::max(0.0, block.received_bytes));
  block.ms += overflow_ms(device.fast_memory, block.parameters, received + largest);
}

void Partition::move(Vertex vertex, std::size_t to) {
  const std::size_t from = block_of_[vertex];
  if (from == to) return;
  for (const std::size_t tensor : touched_[vertex]) take_from_traffic(tensor, 1);
  remove(vertex);
  add(vertex, to);
  for (const std::size_t tensor : touched_[vertex]) {
    if (problem_->tensors()[tensor].producer == vertex) continue;
    --readers_[tensor * blocks_.size() + from];
    ++readers_[tensor * blocks_.size() + to];
  }
  for (const std::size_t tensor : touched_[vertex]) take_from_traffic(tensor, -1);
  // Readers and producers of its tensors stand anywhere.
  for (Block& block : blocks_) price(block);
}

bool Partition::swap_devices(std::size_t a, std::size_t b) {
  const auto fits = [&](const Block& block, std::size_t device_class) {
    const PipelineClass& device = problem_->classes()[device_class];
    return (device.memory_bytes == 0 || block.held <= device.memory_bytes) &&
           std::ranges::all_of(block.members, [&](Vertex each) {
             return device.work_ms[each] < std::numeric_limits<double>::infinity();
           });
  };
  if (!fits(blocks_[a], blocks_[b].device_class) || !fits(blocks_[b], blocks_[a].device_class)) {
    return false;
  }
  std::swap(blocks_[a].device_class, blocks_[b].device_class);
  for (Block* const block : {&blocks_[a], &blocks_[b]}) {
    const PipelineClass& device = problem_->classes()[block->device_class];
    block->work_ms = 0;
    for (const Vertex vertex : block->members) block->work_ms += device.work_ms[vertex];
    price(*block);
  }
  return true;
}

std::vector<Vertex> Partition::order() const {
  std::vector<Vertex> order;
  for (const Block& block : blocks_) {
    const auto first = order.size();
    order.insert(order.end(), block.members.begin(), block.members.end());
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(first), order.end(),
              [this](Vertex u, Vertex v) { return rank_[u] < rank_[v]; });
  }
  return order;
}

}  // namespace hios::scheduler::pipeline
