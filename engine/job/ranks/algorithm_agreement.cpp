#include "engine/job/ranks/algorithm_agreement.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/backend/operation.h"
#include "hios/base/error.h"
#include "hios/base/log.h"
#include "hios/platform/device_identity.h"
#include "mpi/exchange.h"
#include "mpi/session/agreement.h"

namespace hios::job {
namespace {

void adopt(Backend& backend, const KnownAlgorithms& known) {
  try {
    backend.adopt(known.algorithms);
  } catch (const InputError& error) {
    if (known.file.empty()) throw;
    throw InputError(printable(known.file, 200) + ": " + error.what());
  }
}

Json choose_all(Backend& backend, const CoarseGraph& coarse, const Model& model,
                const KnownAlgorithms& known, Choosing how) {
  adopt(backend, known);
  Json all = Json::object();
  log::Progress progress("choosing algorithms, operator");
  std::size_t done = 0;
  for (const OpId op : coarse.graph.topological()) {
    progress.update(++done, coarse.graph.size(), -1);
    const Operation operation = operation_of(coarse, model, op);
    if (!backend.unsupported(operation)) all.update(backend.algorithms(operation, how));
  }
  return all;
}

}  // namespace

Json agree_on_algorithms(mpi::Transport& transport, Backend& backend, const CoarseGraph& coarse,
                         const Model& model, const KnownAlgorithms& known, Choosing how) {
  const std::string mine = std::string(backend.name()) + " on " + std::string(backend.kind()) +
                           " in " + std::string(to_string(backend.precision())) + " " +
                           DeviceIdentity::of(backend.describe()).text();
  const std::vector<std::string> names = mpi::gather(transport, mine);
  const auto first =
      static_cast<std::size_t>(std::find(names.begin(), names.end(), mine) - names.begin());
  const bool chooses = first == transport.rank().index();
  const Json chosen = mpi::agreed(transport, [&] {
    return chooses ? choose_all(backend, coarse, model, known, how) : Json::object();
  });
  Json algorithms = mpi::gather(transport, chosen)[first];
  mpi::agreed(transport, [&] { backend.adopt(algorithms); });
  return algorithms;
}

}  // namespace hios::job
