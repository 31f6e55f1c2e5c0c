#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/routes/endpoint.h"

/// Routes: the ways by which a tensor can go from one rank to another. Each is one file that fills
/// a Route, and one row of the table in route.cpp; no other code knows how many there are.
namespace hios::mpi {

/// The pairs of ranks that a route serves, by where the two ranks compute.
struct ServedPairs {
  bool hosts = false;            ///< both in host memory
  bool device_and_host = false;  ///< one on a device
  bool devices = false;          ///< both on devices
};

struct Route {
  std::string_view name;         ///< in files, tables and options: "ipc"
  std::string_view description;  ///< for people, without a full stop
  ServedPairs serves;
  /// The route serves only ranks of one host.
  bool within_host = false;
  /// Returns the reason why this rank cannot take part, judged by its MPI; empty: it can. Null:
  /// every rank can. An empty reason is only a hint, see `probed`.
  std::string (*unavailable)(const Transport& transport) = nullptr;
  /// Makes the state that the route's messages share on a rank (`shared`), before the route is
  /// tried between any two ranks. Returns the reason why no rank can use the route, the same on
  /// all; empty: none. Collective over all ranks; `device` is this rank's, or null. Such a route is
  /// taken for all pairs that need it or for none. Null: its messages share nothing.
  std::string (*join)(Transport& transport, Accelerator* device,
                      std::shared_ptr<SharedByRoute>& shared) = nullptr;
  /// The route must be tried between two ranks before it is chosen.
  bool probed = true;
  /// The endpoints of the two sides exchange offers (Endpoint::offer) before the channel opens,
  /// which makes opening a channel collective.
  bool exchanges_offers = false;
  /// The route takes messages without bytes, and messages that are in order with another queue than
  /// the work queue; if not, these go by fallback_route().
  bool takes_empty = true, takes_any_queue = true;
  /// The route's messages can be recorded (Endpoint::recordable).
  bool records = false;
  /// The route hands a message to the wrapped transport unchanged, with its own tag. If the routes
  /// between all ranks do so, channels are the wrapped transport's own.
  bool passes_through = false;

  /// Make the endpoints of one message. They serve a rank without a device only if the route serves
  /// hosts.
  std::unique_ptr<Endpoint> (*make_send)(const EndpointContext& context, const Message& message);
  std::unique_ptr<Endpoint> (*make_receive)(const EndpointContext& context, const Message& message);
};

/// Returns all routes, best first.
const std::vector<Route>& routes();

/// Returns the route that carries every message between any two ranks, if slowly: the last of the
/// table.
const Route& fallback_route();

/// Returns the route's position in the table.
std::size_t index_of(const Route& route);

/// Returns the route of that name. Throws InputError that lists the names of the table.
const Route& route_named(std::string_view name);

bool serves(const Route& route, bool one_has_device, bool other_has_device);

/// Parses the route that the user chose, for pairs of devices, or of ranks in host memory ("host":
/// all messages by MPI); null for "auto", the best that works.
/// Throws InputError that lists the names.
const Route* parse_route(std::string_view text);

/// Lists the names that parse_route takes for devices other than "auto", the word `last` before the
/// last: "ipc, cuda-aware and staged".
std::string device_route_names(std::string_view last);

}  // namespace hios::mpi
