#include "engine/run/plan/memory_estimate.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "hios/base/error.h"

namespace hios {
namespace {

std::string megabytes(Bytes size_bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MB", static_cast<double>(size_bytes) / 1e6);
  return text;
}

}  // namespace

MemoryEstimate estimate_memory(const CoarseGraph& coarse, const Model& model,
                               const RankPlan& plan) {
  MemoryEstimate estimate;
  for (const HeldOperator& held : plan.held) {
    estimate.parameters += coarse.graph.op(held.op).parameter_bytes;
  }
  if (plan.slots.empty()) return estimate;
  estimate.tensors = plan.tensor_bytes();
  const Bytes inputs = static_cast<Bytes>(plan.inputs);
  estimate.input = coarse.size_bytes(model.tensor(model.input()).shape) * (1 + inputs);
  for (const OpId op : plan.outputs) estimate.tensors += plan.slot(op).size_bytes() * inputs;
  std::set<std::pair<OpId, std::int64_t>> known;  // all batches of one size share weights
  for (const Slot& slot : plan.slots) {
    if (slot.received) continue;
    const Batch batch = coarse.graph.batch(slot.op);
    if (!known.emplace(batch.op, batch.inputs.size()).second) continue;
    estimate.parameters += coarse.graph.op(slot.op).parameter_bytes;
  }
  return estimate;
}

std::string largest_tensor_text(const Graph& graph, const RankPlan& plan) {
  const auto largest = std::ranges::max_element(plan.slots, {}, &Slot::size_bytes);
  return " (of " + std::to_string(plan.slots.size()) + ", the largest is " +
         graph.op(largest->op).name + "'s: " + std::to_string(largest->size_bytes()) + " bytes)";
}

MemoryEstimate held_memory(const MemoryEstimate& estimate, const Backend& backend) {
  MemoryEstimate held = estimate;
  if (const auto counted = backend.held_memory()) {
    held.parameters = counted->weights;
    held.scratch = counted->scratch;
  }
  return held;
}

void require_device_memory(const MemoryEstimate& estimate, Bytes free, const std::string& who) {
  if (estimate.total() <= free) return;
  throw InputError("not enough device memory for " + who + ": " + megabytes(estimate.tensors) +
                   " for tensors, " + megabytes(estimate.input) + " for the input and " +
                   megabytes(estimate.parameters) + " for weights, and " + megabytes(free) +
                   " are free: " + megabytes(estimate.total() - free) +
                   " are missing; take a smaller batch or picture, more devices, or end what else "
                   "runs there");
}

}  // namespace hios
