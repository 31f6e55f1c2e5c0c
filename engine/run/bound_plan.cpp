// Operators are bound to addresses, so where tensors have several buffers, all operators are bound
// once for each buffer index. That costs descriptors and no weights: backends keep one copy of the
// weights of a name.
#include "engine/run/bound_plan.h"

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "engine/backend/arena.h"
#include "engine/backend/host_copies.h"
#include "engine/backend/operation.h"
#include "engine/host/clock.h"
#include "engine/run/plan/memory_estimate.h"
#include "hios/base/error.h"
#include "hios/base/log.h"

namespace hios {

BoundPlan::BoundPlan(const RankContext& rank, const RankPlan& plan, const Notes& notes)
    : rank_(rank), plan_(plan), notes_(notes), store_(rank.source) {
  check_elements();
  allocate();
  const bool reserves = plan_.has_parameters() || plan_.exchange.any;
  if (reserves) reserve_parameters();
  bind();
  bind_never_run();
  if (reserves) rank_.backend.reserve_parameters(0);  // operators of another run find theirs there
}

void BoundPlan::check_elements() const {
  const Bytes graph = rank_.coarse.element_bytes, backend = rank_.backend.element_bytes();
  if (graph == backend) return;
  throw std::logic_error("the graph's elements have " + std::to_string(graph) + " bytes, the " +
                         std::string(rank_.backend.name()) + " backend's " +
                         std::to_string(backend));
}

void BoundPlan::allocate() {
  if (plan_.slots.empty()) return;
  const auto& [coarse, model, backend, transport, source, shared] = rank_;
  const std::string name = "rank " + std::to_string(plan_.rank.index());
  if (plan_.shared_bytes > 0 && shared == nullptr) {
    throw std::logic_error("a plan with shared tensors, and no memory that ranks share");
  }
  if (const auto free = backend.free_memory()) {
    require_device_memory(estimate_memory(coarse, model, plan_), *free, name);
  }
  arena_ = backend.allocate(plan_.arena_bytes,
                            "the tensors of " + name + largest_tensor_text(coarse.graph, plan_));
  fill(backend, arena_->data(), plan_.arena_bytes, {});  // the pages are there before the first run
  const Shape& shape = model.tensor(model.input()).shape;
  input_ = backend.allocate(coarse.size_bytes(shape), "the model's input on " + name);
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  source.input(model, values);
  write_floats(backend, input_->data(), values);
}

void BoundPlan::reserve_parameters() {
  constexpr Bytes kForAlignment = 512;  // of a layer's weights and bias
  Bytes sum = 0;
  std::set<std::pair<OpId, std::int64_t>> known;  // all batches of one size share parameters
  const auto add = [&](OpId op) {
    const Batch batch = rank_.graph().batch(op);
    if (!known.emplace(batch.op, batch.inputs.size()).second) return;
    sum += rank_.graph().op(op).parameter_bytes +
           kForAlignment * rank_.coarse.layers(op).layers.size();
  };
  for (const Slot& slot : plan_.slots) {
    if (!slot.received && rank_.graph().op(slot.op).parameter_bytes > 0) add(slot.op);
  }
  for (const HeldOperator& held : plan_.held) add(held.op);
  rank_.backend.reserve_parameters(sum);
}

// Batches of an operator share parameters, and so do its shards; parameters that are loaded, or
// read in place, are bound to several sources.
bool BoundPlan::binds_once() const {
  return !rank_.graph().batching() && !rank_.model.whole() && plan_.held.empty() &&
         plan_.in_place.empty() && !plan_.has_parameters();
}

void BoundPlan::forget(OpId op) {
  for (const LayerId id : rank_.coarse.layers(op).layers)
    rank_.source.forget(rank_.model, rank_.model.layer(id));
}

void BoundPlan::forget_other_ranks() {
  std::vector<bool> is_mine(rank_.graph().size());
  for (const Slot& slot : plan_.slots) {
    if (!slot.received) is_mine[slot.op.index()] = true;
  }
  for (std::size_t v = 0; v < is_mine.size(); ++v) {
    if (!is_mine[v]) forget(OpId(v));
  }
}

// Weights are made and, on a device, uploaded here: seconds, for large networks.
void BoundPlan::bind() {
  Backend& backend = rank_.backend;
  std::size_t all = 0;
  for (const Slot& slot : plan_.slots) all += slot.received ? 0 : plan_.buffers;
  operators_.reserve(all);
  log::Progress shown(backend.accelerator() ? "uploading weights, operator"
                                            : "making weights, operator");
  const Stopwatch stopwatch;
  const bool once = binds_once();
  if (once) forget_other_ranks();
  for (std::size_t buffer = 0; buffer < plan_.buffers; ++buffer) {
    std::vector<BoundStage>& stages = stages_.emplace_back();
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      const Stage& stage = plan_.stages[s];
      BoundStage& bound = stages.emplace_back();
      bound.shares = core_shares(stage.groups.size(), backend.threads());
      for (std::size_t g = 0; g < stage.groups.size(); ++g) {
        BoundGroup& group = bound.groups.emplace_back();
        for (const OpId op : stage.groups[g]) {
          group.push_back(bind_one(op, s, buffer, bound.shares[g]));
          if (once && buffer + 1 == plan_.buffers) forget(op);
          const std::size_t done = operators_.size();
          shown.update(
              done, all,
              stopwatch.seconds() * static_cast<double>(all - done) / static_cast<double>(done));
        }
      }
    }
  }
}

std::unique_ptr<BoundOperator> BoundPlan::bound_to(OpId op, std::size_t buffer,
                                                   const CoreShare& share, TensorSource& source) {
  std::vector<const std::byte*> inputs;
  for (const TensorId id : rank_.coarse.layers(op).inputs) {
    inputs.push_back(tensor_of_input(op, id, buffer));
  }
  return bind_operator(rank_.coarse, rank_.model, op, rank_.backend, inputs, tensor(op, buffer),
                       share, source);
}

BoundOperator* BoundPlan::bind_one(OpId op, std::size_t stage, std::size_t buffer,
                                   const CoreShare& share) {
  const bool in_place = std::ranges::count(plan_.in_place, op) > 0;
  if (in_place) require_reads_in_place(rank_.backend, rank_.graph().op(op).name);
  auto bound = bound_to(op, buffer, share, in_place ? store_ : rank_.source);
  if (!rank_.backend.accelerator()) {
    if (notes_.clocks) bound = notes_.clocks->timed(std::move(bound), op);
    bound = notes_.progress.noted(std::move(bound), op, stage);
  }
  operators_.push_back(std::move(bound));
  return operators_.back().get();
}

// They come last, so that parameters that are loaded one after the other have none of these
// between them. An operator in place is alone in its stage. Inputs of the others may overlap.
void BoundPlan::bind_never_run() {
  const CoreShare alone = core_shares(1, rank_.backend.threads()).front();
  for (const OpId op : plan_.in_place) {
    never_run_.push_back(bound_to(op, 0, alone, rank_.source));
  }
  const CoarseGraph& coarse = rank_.coarse;
  const auto output = [&](OpId op) {
    return aligned_size(coarse.size_bytes(rank_.model.tensor(coarse.layers(op).output).shape));
  };
  Bytes outputs = 0, inputs = 0;
  for (const HeldOperator& held : plan_.held) {
    outputs = std::max(outputs, output(held.op));
    for (const Shape& shape : coarse.layers(held.op).input_shapes) {
      inputs = std::max(inputs, aligned_size(coarse.size_bytes(shape)));
    }
  }
  if (plan_.held.empty()) return;
  no_tensors_ = rank_.backend.allocate(outputs + inputs, "operators that are passed on");
  for (const auto& [op, group, groups] : plan_.held) {
    const std::vector<const std::byte*> read(coarse.layers(op).inputs.size(),
                                             no_tensors_->data() + outputs);
    never_run_.push_back(
        bind_operator(coarse, rank_.model, op, rank_.backend, read, no_tensors_->data(),
                      core_shares(groups, rank_.backend.threads())[group], rank_.source));
  }
}

// The tensor may begin before the slot of the first that produces some of it: a rank receives what
// it reads, and lies between neighbours in its region.
const std::byte* BoundPlan::tensor_of_input(OpId op, TensorId tensor, std::size_t buffer) const {
  const CoarseGraph& coarse = rank_.coarse;
  if (const auto producer = coarse.producer_for(tensor, op)) {
    const Slot& slot = plan_.slot(*producer);
    return memory_of(slot) + slot.offset_of(coarse.distance(*producer, tensor, op), buffer);
  }
  return input_->data() + coarse.distance_from_input(rank_.model, tensor, op);
}

std::vector<float> BoundPlan::values(OpId op, std::size_t buffer) const {
  return read_floats(rank_.backend, tensor(op, buffer),
                     plan_.slot(op).size_bytes() / rank_.coarse.element_bytes);
}

std::vector<std::span<std::byte>> BoundPlan::parameter_memory(OpId op) const {
  const Operation operation = operation_of(rank_.coarse, rank_.model, op);
  auto memory = rank_.backend.parameter_memory(operation, rank_.source);
  Bytes shown = 0;
  for (const std::span<std::byte> part : memory) shown += part.size();
  if (shown < rank_.graph().op(op).parameter_bytes) {
    throw InputError("the " + std::string(rank_.backend.name()) +
                     " backend cannot load the parameters of " + operation.name +
                     " later: it computes with them when it makes the operator ready");
  }
  return memory;
}

std::vector<mpi::Message> BoundPlan::messages(std::span<const PlannedMessage> planned,
                                              std::size_t buffer) const {
  std::vector<mpi::Message> list;
  for (const PlannedMessage& message : planned) {
    const auto first = static_cast<std::int64_t>(message.bytes.begin);
    const Slot& slot = plan_.slot(message.op);
    list.push_back({message.peer, message.tag + static_cast<int>(buffer) * plan_.tags,
                    memory_of(slot) + slot.offset_of(first, buffer),
                    message.shared ? 0 : message.size_bytes()});
    list.back().order = message.order;
    list.back().batch = message.batch;
  }
  return list;
}

std::vector<mpi::Message> BoundPlan::sends(std::size_t buffer) const {
  return messages(plan_.sends, buffer);
}

std::vector<mpi::Message> BoundPlan::receives(std::size_t buffer) const {
  return messages(plan_.receives, buffer);
}

}  // namespace hios
