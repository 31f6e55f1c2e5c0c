// Every term is memory that is written, so that a system that grants more than it has refuses
// nothing that is counted here and runs. What libraries take in addition (layouts of weights,
// scratch memory, messages) is not counted. Tests: tests/engine/run/plan/host_need_test.cpp.
#include "engine/run/plan/host_need.h"

#include <algorithm>
#include <functional>
#include <set>

#include "engine/cold/read_ahead.h"
#include "engine/run/plan/memory_estimate.h"

namespace hios {
namespace {

/// Returns the floats of each operator's output on one rank, where batches of an operator share a
/// buffer.
Bytes all_outputs(const CoarseGraph& coarse, const Model& model) {
  Bytes sum = 0;
  std::set<OpId> known;
  for (std::size_t v = 0; v < coarse.graph.size(); ++v) {
    if (!known.insert(coarse.graph.batch(OpId(v)).op).second) continue;
    sum += model.tensor(coarse.layers(OpId(v)).output).shape.size_bytes(sizeof(float));
  }
  return sum;
}

/// Returns the bytes of a cold start's parameters that are there twice: what loads bring is kept in
/// other memory than operators read, and what is read in place has memory that none reads. Of a
/// device, only one of the two is in host memory. `and_held`: adds those that are only passed on.
/// Loads from a disk (`disks`: these stores) keep nothing, but have buffers.
Bytes loaded_bytes(const CoarseGraph& coarse, const RankPlan& plan,
                   const std::vector<StoreId>& disks, bool and_held) {
  Bytes sum = 0;
  for (const auto& lane : plan.lanes) {
    for (const PlannedLoad& load : lane) {
      const bool on_disk = load.store && std::ranges::count(disks, *load.store) > 0;
      if (!on_disk && !load.from) sum += load.size_bytes;
    }
  }
  for (const OpId op : plan.in_place) sum += coarse.graph.op(op).parameter_bytes;
  for (const HeldOperator& held : plan.held) {
    if (and_held) sum += coarse.graph.op(held.op).parameter_bytes;
  }
  for (const PlannedEviction& eviction : plan.evictions) {
    if (eviction.resident) sum += eviction.size_bytes;
  }
  for (const auto& lane : plan.lanes) {
    const bool reads = std::ranges::any_of(lane, [&](const PlannedLoad& load) {
      return load.store && std::ranges::count(disks, *load.store) > 0;
    });
    if (reads) sum += ReadAhead::buffer_bytes();
  }
  return sum;
}

/// Returns the bytes that verification holds in addition to the run.
Bytes verification(const CoarseGraph& coarse, const Model& model, const RankPlan& plan,
                   bool in_host_memory, const HostSteps& steps) {
  const auto computed = [](const Slot& slot) { return !slot.received; };
  const bool compares =
      steps.verifies_all ? std::ranges::any_of(plan.slots, computed) : !plan.outputs.empty();
  Bytes sum = 0;
  if (steps.verifies_all) {
    sum += loaded_bytes(coarse, plan, steps.disks, in_host_memory);  // of the further run
    if (in_host_memory) sum += plan.all_tensors_bytes;
  }
  if (!compares) return sum;
  const Bytes outputs = all_outputs(coarse, model);
  if (steps.by_reference) sum += outputs;
  if (steps.on_one_rank && in_host_memory) sum += outputs / sizeof(float) * coarse.element_bytes;
  return sum;
}

NeededTensor tensor_of(const CoarseGraph& coarse, const Model& model, const RankPlan& plan,
                       const Slot& slot) {
  Shape shape = model.tensor(coarse.layers(slot.op).output).shape;
  if (coarse.graph.batching()) {
    shape.n = shape.n * static_cast<std::int64_t>(slot.size_bytes()) /
              static_cast<std::int64_t>(coarse.size_bytes(shape));
  }
  const Bytes buffers = slot.stride > 0 ? static_cast<Bytes>(plan.buffers) : 1;
  return {coarse.graph.op(slot.op).name + "'s output", shape.to_string(),
          slot.size_bytes() * buffers};
}

}  // namespace

void keep_largest(std::vector<NeededTensor>& tensors) {
  std::ranges::stable_sort(tensors, std::greater<>(), &NeededTensor::size_bytes);
  std::vector<NeededTensor> kept;
  for (NeededTensor& tensor : tensors) {
    if (kept.size() == kNamedTensors || tensor.size_bytes == 0) break;
    if (std::ranges::find(kept, tensor.name, &NeededTensor::name) == kept.end())
      kept.push_back(std::move(tensor));
  }
  tensors = std::move(kept);
}

HostNeed host_need(const CoarseGraph& coarse, const Model& model, const RankPlan& plan,
                   Backend& backend, const HostSteps& steps) {
  HostNeed need;
  if (plan.slots.empty() && !plan.has_parameters()) return need;
  const bool in_host_memory = backend.accelerator() == nullptr;
  const Shape& input = model.tensor(model.input()).shape;
  const Bytes values = input.size_bytes(sizeof(float));
  const std::size_t inputs = 1 + plan.inputs;
  need.largest.push_back({inputs == 1 ? "the input" : std::to_string(inputs) + " inputs",
                          input.to_string(),
                          in_host_memory ? coarse.size_bytes(input) * inputs : values});
  Bytes outputs = 0;
  for (const OpId op : plan.outputs)
    outputs += plan.slot(op).size_bytes() / coarse.element_bytes * sizeof(float);
  for (const Slot& slot : plan.slots) {
    if (!in_host_memory && std::ranges::count(plan.outputs, slot.op) == 0) continue;
    need.largest.push_back(tensor_of(coarse, model, plan, slot));
    const Operator& op = coarse.graph.op(slot.op);
    if (in_host_memory && !slot.received)
      need.largest.push_back({op.name + "'s weights", "", op.parameter_bytes});
  }
  keep_largest(need.largest);

  const Bytes at_start = in_host_memory ? plan.tensor_bytes() + coarse.size_bytes(input) : 0;
  const Bytes at_end = (in_host_memory ? estimate_memory(coarse, model, plan).total() : 0) +
                       loaded_bytes(coarse, plan, steps.disks, false);
  need.size_bytes = std::max(at_start + values * (steps.draws_input ? 3 : 1),
                             at_end + (steps.keeps_outputs ? outputs : 0) +
                                 verification(coarse, model, plan, in_host_memory, steps));
  return need;
}

}  // namespace hios
