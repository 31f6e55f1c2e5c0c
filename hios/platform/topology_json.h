#pragma once

#include <optional>
#include <vector>

#include "hios/base/json/json_view.h"
#include "hios/platform/platform.h"

/// The stores, buses and routes of a file of the format `hios-platform` (docs/formats.md).
namespace hios {

/// The lists from which a Topology is made.
struct TopologyLists {
  std::vector<Store> stores;
  std::vector<Bus> buses;
  std::vector<Route> routes;
};

/// Reads "stores", "buses" and "routes"; returns nothing where the file has none of them. Throws
/// InputError with the JSON path: unknown names, values out of range, and a key that prices
/// transfers in another way (links, default_link, contention, routing).
std::optional<TopologyLists> read_topology(ObjectReader& reader, const Platform& devices);

/// Adds the lists that are not empty to the object of the platform, which has this topology.
void write_topology(const Topology& topology, const Platform& platform, Json& root);

}  // namespace hios
