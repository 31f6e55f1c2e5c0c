#include "engine/job/algorithm_agreement.h"

#include <algorithm>
#include <optional>

#include "engine/backend/operation.h"
#include "hios/base/log.h"
#include "hios/platform/device_identity.h"
#include "mpi/exchange.h"

namespace hios::job {
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
                           DeviceIdentity::of(backend.describe()).text();
  const std::vector<std::string> names = mpi::gather(transport, mine);
  const auto first =
      static_cast<std::size_t>(std::find(names.begin(), names.end(), mine) - names.begin());
  const bool chooses = first == transport.rank().index();
  Json algorithms = mpi::gather(
      transport, chooses ? choose_all(backend, coarse, model, known) : Json::object())[first];
  backend.adopt(algorithms);
  return algorithms;
}

}  // namespace hios::job
