#pragma once

#include <string>

#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "hios/profile/profile.h"

/// The platform and the graph of a cold start, as a profile measured them: "loads", "transfers" and
/// "in_place" of the configurations of its devices.
namespace hios {

/// Returns the platform with one store of this kind, named as the kind, and routes: from the store
/// to each device, over a bus that all devices' loads share, and between the devices. Throws
/// InputError, with a need::Measurement, where loads or transfers were not measured. REQUIRES: no
/// topology.
Platform with_measured_store(const Graph& graph, const Platform& platform, const Profile& profile,
                             StoreKind kind);

/// Returns the graph with the times of operators that read their parameters in place, by device, as
/// far as they were measured. Their bytes are counted such that a read takes that time over the
/// route, which was measured with copies: at most all. None takes less than the operator with its
/// parameters there. Left out are reads that take no longer than the route's latency: they would
/// have no flow that loads slow. REQUIRES: with_measured_store() has returned the platform, of this
/// profile and kMemory.
Graph with_measured_in_place(const Graph& graph, const Platform& platform, const Profile& profile);

/// Returns, for people, a line for each store whose loads were measured.
std::string loads_text(const Configuration& configuration);

}  // namespace hios
