#include "scheduler/pipeline/search/partition.h"

#include <algorithm>
#include <limits>

// A move changes transfers of its vertex's tensors alone. For a consumed tensor, these are in the
// two blocks and, if one of them is the first or last other block with a consumer, in the
// producer's. For a produced tensor, they are in the two blocks. Only the costs of these blocks are
// updated. So a search makes millions of moves a second. Test:
// tests/scheduler/pipeline/search/partition_test.cpp compares with sets.

namespace hios::scheduler::pipeline {

Partition::Partition(const PipelineProblem& problem, std::span<const Vertex> order,
                     const Slicing& slicing)
    : problem_(&problem),
      index_(problem.size(), 0),
      rank_(problem.size(), 0),
      produced_(problem.size()),
      consumed_(problem.size()),
      own_bytes_(problem.size(), 0) {
  for (std::size_t i = 0; i < problem.size(); ++i) rank_[problem.given_order()[i]] = i;
  for (const PipelineTensor& tensor : problem.tensors()) {
    produced_[tensor.producer].push_back(tensors_.size());
    for (const Vertex consumer : tensor.consumers) consumed_[consumer].push_back(tensors_.size());
    tensors_.push_back({tensor.producer, tensor.ms, static_cast<double>(tensor.bytes)});
  }
  for (Vertex v = 0; v < problem.size(); ++v) {
    for (const OpId op : problem.vertices()[v].ops) {
      own_bytes_[v] = std::max(own_bytes_[v], tensor_bytes(problem.graph(), op));
    }
  }
  layout_.block_of.resize(problem.size());
  std::vector<std::size_t> left;  // devices, by class
  for (const PipelineClass& each : problem.classes()) left.push_back(each.devices.size());
  for (const Slice& slice : slicing.slices) {
    --left[slice.device_class];
    for (std::size_t at = slice.begin; at < slice.end; ++at) {
      layout_.block_of[order[at]] = layout_.device_classes.size();
    }
    layout_.device_classes.push_back(slice.device_class);
  }
  for (std::size_t c = 0; c < left.size(); ++c) {
    for (; left[c] > 0; --left[c]) layout_.device_classes.push_back(c);
  }
  fill();
}

void Partition::restore(Layout layout) {
  layout_ = std::move(layout);
  fill();
}

/// Computes everything else from the layout.
void Partition::fill() {
  const std::size_t count = layout_.device_classes.size();
  blocks_.assign(count, {});
  is_touched_.assign(count, false);
  touched_.clear();
  consumers_.assign(tensors_.size() * count, 0);
  elsewhere_.assign(tensors_.size(), 0);
  for (Vertex v = 0; v < problem_->size(); ++v) add(v, layout_.block_of[v]);
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    for (const Vertex consumer : problem_->tensors()[t].consumers)
      add_consumer(t, block_of(consumer));
  }
  for (std::size_t b = 0; b < count; ++b) update_cost(b);
  touched_.clear();
  is_touched_.assign(count, false);
}

double Partition::period_ms() const {
  double largest = 0;
  for (const Block& block : blocks_) largest = std::max(largest, block.ms);
  return largest;
}

std::pair<std::size_t, std::size_t> Partition::block_range(Vertex vertex) const {
  std::size_t first = 0, last = blocks_.size() - 1;
  for (const Vertex each : problem_->vertices()[vertex].predecessors)
    first = std::max(first, block_of(each));
  for (const Vertex each : problem_->vertices()[vertex].successors)
    last = std::min(last, block_of(each));
  return {first, last};
}

bool Partition::can_run(Vertex vertex, std::size_t block) const {
  return device(block).work_ms[vertex] < std::numeric_limits<double>::infinity();
}

bool Partition::has_room(Vertex vertex, std::size_t block) const {
  const Bytes limit = device(block).memory_bytes;
  return can_run(vertex, block) &&
         (limit == 0 || blocks_[block].held + problem_->vertices()[vertex].held <= limit);
}

bool Partition::fits(std::size_t block) const {
  const Bytes limit = device(block).memory_bytes;
  return limit == 0 || blocks_[block].held <= limit;
}

void Partition::add(Vertex vertex, std::size_t to) {
  Block& block = blocks_[to];
  layout_.block_of[vertex] = to;
  index_[vertex] = block.members.size();
  block.members.push_back(vertex);
  block.work_ms += device(to).work_ms[vertex];
  block.parameters += problem_->vertices()[vertex].parameters;
  block.held += problem_->vertices()[vertex].held;
  block.largest = std::max(block.largest, own_bytes_[vertex]);
}

void Partition::remove(Vertex vertex) {
  const std::size_t from = block_of(vertex);
  Block& block = blocks_[from];
  const Vertex last = block.members.back();
  block.members[index_[vertex]] = last;
  index_[last] = index_[vertex];
  block.members.pop_back();
  block.work_ms -= device(from).work_ms[vertex];
  block.parameters -= problem_->vertices()[vertex].parameters;
  block.held -= problem_->vertices()[vertex].held;
  if (own_bytes_[vertex] == block.largest && device(from).fast_memory.bytes > 0) {
    find_largest(from);
  }
}

void Partition::find_largest(std::size_t block) {
  blocks_[block].largest = 0;
  for (const Vertex each : blocks_[block].members) {
    blocks_[block].largest = std::max(blocks_[block].largest, own_bytes_[each]);
  }
}

void Partition::touch(std::size_t block) {
  if (is_touched_[block]) return;
  is_touched_[block] = true;
  touched_.push_back(block);
}

void Partition::receive(const Tensor& tensor, std::size_t block, double sign) {
  blocks_[block].receive_ms += sign * tensor.ms;
  blocks_[block].received_bytes += sign * tensor.bytes;
}

void Partition::send(const Tensor& tensor, std::size_t block, double sign) {
  blocks_[block].send_ms += sign * tensor.ms;
  touch(block);
}

void Partition::remove_consumer(std::size_t tensor, std::size_t from) {
  const Tensor& each = tensors_[tensor];
  const std::size_t home = block_of(each.producer);
  if (--consumers_[tensor * blocks_.size() + from] > 0 || from == home) return;
  receive(each, from, -1);
  if (--elsewhere_[tensor] == 0) send(each, home, -1);
}

void Partition::add_consumer(std::size_t tensor, std::size_t to) {
  const Tensor& each = tensors_[tensor];
  const std::size_t home = block_of(each.producer);
  if (++consumers_[tensor * blocks_.size() + to] > 1 || to == home) return;
  receive(each, to, 1);
  if (++elsewhere_[tensor] == 1) send(each, home, 1);
}

void Partition::move_producer(std::size_t tensor, std::size_t from, std::size_t to) {
  const Tensor& each = tensors_[tensor];
  const std::uint32_t* const consumers = &consumers_[tensor * blocks_.size()];
  if (elsewhere_[tensor] > 0) send(each, from, -1);
  if (consumers[from] > 0) {
    receive(each, from, 1);
    ++elsewhere_[tensor];
  }
  if (consumers[to] > 0) {
    receive(each, to, -1);
    --elsewhere_[tensor];
  }
  if (elsewhere_[tensor] > 0) send(each, to, 1);
}

double Partition::ms_without_overflow(std::size_t block) const {
  const IoCharge& charge = device(block).charge;
  const Block& each = blocks_[block];
  return each.work_ms + each.receive_ms * charge.receive + each.send_ms * charge.send;
}

void Partition::update_cost(std::size_t block) {
  const PipelineClass& own = device(block);
  Block& each = blocks_[block];
  each.ms = ms_without_overflow(block);
  if (own.fast_memory.bytes == 0 || each.members.empty()) return;
  const auto received = static_cast<Bytes>(std::max(0.0, each.received_bytes));
  each.ms += overflow_ms(own.fast_memory, each.parameters, received + each.largest);
}

void Partition::move(Vertex vertex, std::size_t to) {
  const std::size_t from = block_of(vertex);
  if (from == to) return;
  for (const std::size_t tensor : consumed_[vertex]) {
    remove_consumer(tensor, from);
    add_consumer(tensor, to);
  }
  for (const std::size_t tensor : produced_[vertex]) move_producer(tensor, from, to);
  remove(vertex);
  add(vertex, to);
  touch(from);
  touch(to);
  for (const std::size_t block : touched_) {
    update_cost(block);
    is_touched_[block] = false;
  }
  touched_.clear();
}

bool Partition::swap_devices(std::size_t a, std::size_t b) {
  const auto fit = [&](std::size_t block, std::size_t device_class) {
    const PipelineClass& other = problem_->classes()[device_class];
    return (other.memory_bytes == 0 || blocks_[block].held <= other.memory_bytes) &&
           std::ranges::all_of(blocks_[block].members, [&](Vertex each) {
             return other.work_ms[each] < std::numeric_limits<double>::infinity();
           });
  };
  std::vector<std::size_t>& classes = layout_.device_classes;
  if (!fit(a, classes[b]) || !fit(b, classes[a])) return false;
  std::swap(classes[a], classes[b]);
  for (const std::size_t block : {a, b}) {
    blocks_[block].work_ms = 0;
    for (const Vertex vertex : blocks_[block].members) {
      blocks_[block].work_ms += device(block).work_ms[vertex];
    }
    find_largest(block);
    update_cost(block);
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

Slicing Partition::slicing(std::span<const Vertex> order) const {
  Slicing made{{}, 0};
  std::size_t begin = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (blocks_[b].members.empty()) continue;
    const std::size_t end = begin + blocks_[b].members.size();
    double ms = ms_without_overflow(b);
    if (device(b).fast_memory.bytes > 0) {
      std::vector<OpId> ops;
      for (std::size_t at = begin; at < end; ++at) {
        const std::vector<OpId>& more = problem_->vertices()[order[at]].ops;
        ops.insert(ops.end(), more.begin(), more.end());
      }
      ms += overflow_ms(device(b).fast_memory, blocks_[b].parameters,
                        peak_bytes(problem_->graph(), ops));
    }
    made.slices.push_back({begin, end, layout_.device_classes[b], ms});
    made.period_ms = std::max(made.period_ms, ms);
    begin = end;
  }
  return made;
}

}  // namespace hios::scheduler::pipeline
