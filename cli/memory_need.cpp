#include "cli/memory_need.h"

#include <unordered_set>

#include "cli/table.h"
#include "engine/machine.h"
#include "hios/error.h"

namespace hios::cli {

namespace {

std::string gigabytes(Bytes bytes) { return fixed(static_cast<double>(bytes) / 1e9, 1) + " GB"; }

}  // namespace

Bytes cost_model_bytes(const Graph& graph, const Platform& platform) {
  const Bytes devices = platform.size();
  std::unordered_set<Bytes> sizes;
  for (const Edge& edge : graph.edges()) {
    if (!edge.transfer_ms && devices > 1) sizes.insert(edge.size_bytes);
  }
  return sizeof(double) * devices * (graph.size() + sizes.size() * devices);
}

void require_memory(Bytes needed, const std::string& purpose, const std::string& remedy) {
  const auto left = available_memory();
  if (!left || needed <= *left) return;
  throw InputError(purpose + " takes about " + gigabytes(needed) + " of memory, and " +
                   gigabytes(*left) + " are left: " + remedy);
}

}  // namespace hios::cli
