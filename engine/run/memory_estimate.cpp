#include "engine/run/memory_estimate.h"

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
  MemoryEstimate need;
  if (plan.slots.empty()) return need;
  need.tensors = plan.arena_bytes;
  const Bytes inputs = static_cast<Bytes>(plan.inputs);
  need.input = coarse.size_bytes(model.tensor(model.input()).shape) * (1 + inputs);
  for (const OpId op : plan.outputs) need.tensors += plan.slot(op).size_bytes * inputs;
  std::set<std::pair<OpId, std::int64_t>> held;  // weights serve all batches of one size
  for (const Slot& slot : plan.slots) {
    if (slot.received) continue;
    const Batch batch = coarse.graph.batch(slot.op);
    if (!held.emplace(batch.op, batch.inputs.size()).second) continue;
    need.parameters += coarse.graph.op(slot.op).parameter_bytes;
  }
  return need;
}

std::string largest_tensor_text(const Graph& graph, const RankPlan& plan) {
  const auto largest = std::ranges::max_element(plan.slots, {}, &Slot::size_bytes);
  return " (of " + std::to_string(plan.slots.size()) + ", the largest is " +
         graph.op(largest->op).name + "'s: " + std::to_string(largest->size_bytes) + " bytes)";
}

MemoryEstimate held_memory(const MemoryEstimate& estimate, const Backend& backend) {
  MemoryEstimate held = estimate;
  if (const auto counted = backend.held_memory()) {
    held.parameters = counted->weights;
    held.scratch = counted->scratch;
  }
  return held;
}

void require_device_memory(const MemoryEstimate& need, Bytes free, const std::string& who) {
  if (need.total() <= free) return;
  throw InputError("not enough device memory for " + who + ": " + megabytes(need.tensors) +
                   " for tensors, " + megabytes(need.input) + " for the input and " +
                   megabytes(need.parameters) + " for weights, and " + megabytes(free) +
                   " are free: " + megabytes(need.total() - free) +
                   " are missing; take a smaller batch or picture, more devices, or end what else "
                   "runs there");
}

}  // namespace hios
