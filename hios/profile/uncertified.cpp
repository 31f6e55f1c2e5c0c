#include "hios/profile/uncertified.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hios/base/error.h"

namespace hios {

bool is_uncertified(const std::string& signature, const Configuration& measured) {
  const Json& machine = *measured.machine;
  if (!machine.is_object() || !machine.contains("uncertified")) return false;
  const Json& listed = machine.at("uncertified");
  return std::ranges::find(listed, Json(signature)) != listed.end();
}

std::optional<OpId> uncertified_shard(const Graph& graph, const Configuration& measured) {
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (is_uncertified(graph.op(OpId(i)).signature, measured)) return OpId(i);
  }
  return {};
}

void require_certified(const Graph& graph, const Configuration& measured, const std::string& file) {
  const auto shard = uncertified_shard(graph, measured);
  if (!shard) return;
  throw InputError(printable(file, 200) + ": " + quote(graph.op(*shard).name) +
                   " does not give the bits of its whole operator, as the profile found; leave it "
                   "out of the cuts");
}

}  // namespace hios
