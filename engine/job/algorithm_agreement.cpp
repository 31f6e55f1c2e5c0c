#include "engine/job/algorithm_agreement.h"

#include <algorithm>
#include <optional>

#include "engine/backend/operation.h"
#include "hios/base/log.h"
#include "hios/platform/device_identity.h"

namespace hios {
namespace {

Json choose_all(Backend& backend, const CoarseGraph& coarse, const Model& model,
                const Json& known) {
  backend.adopt(known);
  Json all = Json::object();
  log::Progress progress("choosing algorithms, operator");
  std::size_t done = 0;
  for (const OpId op : coarse.graph.topological()) {
    progress.update(++done, coarse.graph.size(), -1);
    const Operation operation = operation_of(coarse, model, op);
    if (!backend.unsupported(operation)) all.update(backend.algorithms(operation));
  }
  return all;
}

}  // namespace

Json agree_on_algorithms(mpi::Transport& transport, Backend& backend, const CoarseGraph& coarse,
                         const Model& model, const Json& known) {
  const std::string mine = std::string(backend.name()) + " in " +
                           std::string(to_string(backend.precision())) + " " +
                           gpu_text(backend.describe());
  const std::vector<std::string> names = transport.all_gather(mine);
  const auto first =
      static_cast<std::size_t>(std::find(names.begin(), names.end(), mine) - names.begin());
  const bool chooses = first == transport.rank().index();
  const std::vector<std::string> chosen = transport.all_gather(
      chooses ? choose_all(backend, coarse, model, known).dump() : std::string());
  const std::string& text = chosen[first];
  Json algorithms =
      parse_json(text, "rank " + std::to_string(first) + "'s choices", {.max_bytes = text.size()});
  backend.adopt(algorithms);
  return algorithms;
}

}  // namespace hios
