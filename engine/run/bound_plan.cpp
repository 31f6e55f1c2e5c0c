#include "engine/run/bound_plan.h"

#include <optional>
#include <utility>

#include "engine/backend/host_copies.h"
#include "engine/backend/operation.h"
#include "engine/host/clock.h"
#include "engine/run/memory_estimate.h"
#include "hios/base/log.h"

// Operators are bound to addresses, so where tensors have several places, all operators are bound
// as often. That costs descriptors and no weights: backends keep one copy of those of a name.
namespace hios {

BoundPlan::BoundPlan(const CoarseGraph& coarse, const Model& model, const RankPlan& plan,
                     Backend& backend, TensorSource& source, const Notes& notes)
    : coarse_(coarse), model_(model), plan_(plan), backend_(backend), notes_(notes) {
  allocate(source);
  bind(source);
}

void BoundPlan::allocate(TensorSource& source) {
  if (plan_.slots.empty()) return;
  const std::string rank = "rank " + std::to_string(plan_.rank.index());
  if (const auto free = backend_.free_memory()) {
    require_device_memory(estimate_memory(coarse_, model_, plan_), *free, rank);
  }
  arena_ = backend_.allocate(plan_.arena_bytes,
                             "the tensors of " + rank + largest_tensor_text(coarse_.graph, plan_));
  fill(backend_, arena_->data(), plan_.arena_bytes,
       {});  // the pages are there before the first run
  const Shape& shape = model_.tensor(model_.input()).shape;
  input_ = backend_.allocate(coarse_.size_bytes(shape), "the model's input on " + rank);
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  source.input(model_, values);
  write_floats(backend_, input_->data(), values);
}

// Weights are made and, on a device, uploaded here: seconds, for large networks.
void BoundPlan::bind(TensorSource& source) {
  std::size_t all = 0;
  for (const Slot& slot : plan_.slots) all += slot.received ? 0 : 1;
  operators_.reserve(all * plan_.places);
  log::Progress shown(backend_.accelerator() ? "uploading weights, operator"
                                             : "making weights, operator");
  const Stopwatch stopwatch;
  for (std::size_t place = 0; place < plan_.places; ++place) {
    std::vector<BoundStage>& stages = stages_.emplace_back();
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      const Stage& stage = plan_.stages[s];
      BoundStage& bound = stages.emplace_back();
      bound.shares = core_shares(stage.groups.size(), backend_.threads());
      for (std::size_t g = 0; g < stage.groups.size(); ++g) {
        BoundGroup& group = bound.groups.emplace_back();
        for (const OpId op : stage.groups[g]) {
          group.push_back(bind_one(op, s, place, bound.shares[g], source));
          const std::size_t done = operators_.size();
          const double left = static_cast<double>(all * plan_.places - done);
          shown.update(done, all * plan_.places,
                       stopwatch.seconds() * left / static_cast<double>(done));
        }
      }
    }
  }
}

BoundOperator* BoundPlan::bind_one(OpId op, std::size_t stage, std::size_t place,
                                   const CoreShare& share, TensorSource& source) {
  std::vector<const std::byte*> inputs;
  for (const TensorId id : coarse_.layers(op).inputs) {
    inputs.push_back(tensor_of_input(op, id, place));
  }
  auto bound =
      bind_operator(coarse_, model_, op, backend_, inputs, tensor(op, place), share, source);
  if (!backend_.accelerator()) {
    if (notes_.clocks) bound = notes_.clocks->timed(std::move(bound), op);
    bound = notes_.progress.noted(std::move(bound), op, stage);
  }
  operators_.push_back(std::move(bound));
  return operators_.back().get();
}

// Where the graph divides inputs, those of one operator lie behind each other.
const std::byte* BoundPlan::tensor_of_input(OpId op, TensorId tensor, std::size_t place) const {
  const std::int64_t first = coarse_.graph.batch(op).inputs.begin;
  if (const auto maker = coarse_.producer_for(tensor, op)) {
    return arena_->data() + plan_.slot(*maker).offset_of(first, place);
  }
  const Bytes each = input_->size_bytes() / static_cast<Bytes>(coarse_.graph.counted_inputs());
  return input_->data() + each * static_cast<Bytes>(first);
}

std::vector<float> BoundPlan::values(OpId op, std::size_t place) const {
  return read_floats(backend_, tensor(op, place),
                     plan_.slot(op).size_bytes / coarse_.element_bytes);
}

std::vector<mpi::Message> BoundPlan::messages(std::span<const PlannedMessage> planned,
                                              std::size_t place) const {
  std::vector<mpi::Message> list;
  for (const PlannedMessage& message : planned) {
    std::byte* const first =
        arena_->data() + plan_.slot(message.op).offset_of(message.inputs.begin, place);
    list.push_back({message.peer, message.tag + static_cast<int>(place) * plan_.tags, first,
                    message.size_bytes});
  }
  return list;
}

std::vector<mpi::Message> BoundPlan::sends(std::size_t place) const {
  return messages(plan_.sends, place);
}

std::vector<mpi::Message> BoundPlan::receives(std::size_t place) const {
  return messages(plan_.receives, place);
}

}  // namespace hios
