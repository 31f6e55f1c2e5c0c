#include "engine/run/memory_estimate.h"

#include <cstdio>

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
  need.input = coarse.size_bytes(model.tensor(model.input()).shape);
  for (const Slot& slot : plan.slots) {
    if (!slot.received) need.parameters += coarse.graph.op(slot.op).parameter_bytes;
  }
  return need;
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
