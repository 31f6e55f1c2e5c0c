#include "engine/job/ranks/tensor_transport.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/host/surroundings.h"
#include "engine/job/ranks/device_agreement.h"
#include "hios/base/error.h"
#include "hios/base/log.h"
#include "hios/platform/device_identity.h"
#include "mpi/device/choose_routes.h"
#include "mpi/device/tensor_transport.h"
#include "mpi/exchange.h"
#include "mpi/shared/shared_arena.h"
#include "mpi/shared/shared_transport.h"

namespace hios::job {

namespace {

/// Names the libraries on which routes depend, for those who ask.
void name_libraries(const mpi::Transport& plain, const Backend& backend) {
  const std::string gpu = DeviceIdentity::of(backend.describe()).text();
  log::verbose("rank 0 on " + plain.host() + ": " + (gpu.empty() ? "no GPU" : gpu));
  log::verbose(plain.path() + (plain.claims_device_memory() ? ", which calls itself CUDA-aware"
                                                            : ", which is not CUDA-aware"));
}

/// Returns the place of this rank's GPU, and its NVLinks.
discovery::GpuPlace place_of(const mpi::Transport& plain, const Backend& backend) {
  discovery::GpuPlace place{plain.host()};
  place.address = discovery::short_pci_address(backend.describe().value("bus", ""));
  if (place.address.empty()) return place;
  place.numa_node = numa_node_of(place.address);
  if (plain.size() > 1) place.links = discovery::nvlinks_of(place.address);
  return place;
}

}  // namespace

std::vector<std::size_t> memory_sharers(mpi::Transport& transport, Backend& backend,
                                        const mpi::Route* forced) {
  const std::vector<bool> devices = mpi::gather(transport, backend.accelerator() != nullptr);
  if (forced != nullptr || std::ranges::count(devices, true) > 0) return {};
  std::vector<std::size_t> sharers = mpi::memory_sharers(transport);
  const std::set<std::size_t> numbers(sharers.begin(), sharers.end());
  if (numbers.size() == sharers.size()) sharers.clear();
  return sharers;
}

TensorTransport::TensorTransport(mpi::Transport& plain, Backend& backend,
                                 const mpi::Route* forced) {
  for (const auto& [identity, ranks] : gather_sharers(plain, backend)) {
    if (ranks.size() == 1 || plain.rank() != Rank(0)) continue;
    log::warning("ranks " + listed(ranks) + " share one GPU (" + identity +
                 "): they slow each other down, so the times hold for this case only");
  }
  if (plain.rank() == Rank(0) && backend.accelerator()) name_libraries(plain, backend);
  routes_ = mpi::choose_routes(plain, backend.accelerator(), forced);
  const bool between_hosts = forced != nullptr && forced->serves.hosts && !forced->serves.devices;
  if (between_hosts && routes_.devices) {
    throw InputError("transport " + quote(forced->name) +
                     " is for ranks in host memory, and some have devices; there are auto, " +
                     mpi::device_route_names("and"));
  }
  if (routes_.devices) places_ = mpi::gather(plain, place_of(plain, backend));
  // One copy by the system beats two through shared memory, which beat MPI's two.
  const bool copied_twice = plain.path().find("without CMA") != std::string::npos;
  if (copied_twice && !routes_.devices && !between_hosts) {
    transport_ = mpi::make_shared_transport(plain);
  } else {
    transport_ = mpi::make_tensor_transport(plain, backend.accelerator(), routes_);
  }
}

std::string TensorTransport::table() const {
  if (!routes_.devices) return "";
  std::vector<std::string> links;
  for (const discovery::GpuPlace& from : places_) {
    for (const discovery::GpuPlace& to : places_) links.push_back(link_between(from, to));
  }
  return routes_.table(links);
}

std::optional<Json> TensorTransport::json() const {
  if (!routes_.devices) return std::nullopt;
  Json by_pair = Json::array(), why_not = Json::array(), links = Json::array();
  for (std::size_t from = 0; from < routes_.ranks; ++from) {
    Json names = Json::array(), reasons = Json::array(), ways = Json::array();
    for (std::size_t to = 0; to < routes_.ranks; ++to) {
      names.push_back(from == to ? "-" : std::string(routes_.at(Rank(from), Rank(to)).name));
      reasons.push_back(routes_.why_not[from * routes_.ranks + to]);
      ways.push_back(from == to ? "-" : link_between(places_[from], places_[to]));
    }
    by_pair.push_back(std::move(names));
    why_not.push_back(std::move(reasons));
    links.push_back(std::move(ways));
  }
  return Json{{"by_pair", std::move(by_pair)},
              {"why_not", std::move(why_not)},
              {"links", std::move(links)}};
}

}  // namespace hios::job
