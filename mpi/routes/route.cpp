#include "mpi/routes/route.h"

#include <algorithm>

#include "hios/base/error.h"
#include "hios/base/nearest_name.h"

namespace hios::mpi {

// One declaration for each route; the file of its name defines it.
Route host_route();
Route ipc_route();
Route cuda_aware_route();
Route nccl_route();
Route staged_route();

const std::vector<Route>& routes() {
  static const std::vector<Route> table = {host_route(), ipc_route(), cuda_aware_route(),
                                           nccl_route(), staged_route()};
  return table;
}

const Route& fallback_route() { return routes().back(); }

std::size_t index_of(const Route& route) {
  return static_cast<std::size_t>(&route - routes().data());
}

bool serves(const Route& route, bool one_has_device, bool other_has_device) {
  if (one_has_device && other_has_device) return route.serves.devices;
  return one_has_device || other_has_device ? route.serves.device_and_host : route.serves.hosts;
}

namespace {

const Route* find(std::string_view name) {
  const auto found = std::find_if(routes().begin(), routes().end(),
                                  [&](const Route& route) { return route.name == name; });
  return found == routes().end() ? nullptr : &*found;
}

}  // namespace

const Route& route_named(std::string_view name) {
  if (const Route* const found = find(name)) return *found;
  std::string names;
  for (const Route& route : routes())
    names += (names.empty() ? "" : ", ") + std::string(route.name);
  throw InputError("no route for tensors is called " + quote(name) + "; there are " + names);
}

const Route* parse_route(std::string_view text) {
  if (text == "auto") return nullptr;
  const Route* const found = find(text);
  if (found != nullptr) return found;
  std::vector<std::string_view> names = {"auto"};
  for (const Route& route : routes()) names.push_back(route.name);
  throw InputError("no transport is called " + quote(text) + "; there are auto, host, " +
                   device_route_names("and") + did_you_mean(text, names));
}

std::string device_route_names(std::string_view last) {
  std::vector<std::string_view> names;
  for (const Route& route : routes()) {
    if (route.serves.devices) names.push_back(route.name);
  }
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " " + std::string(last) + " " : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace hios::mpi
