#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/routes/endpoint.h"

/// The routes: how a tensor can go from one rank to another. Each is one file that fills a Route,
/// and one row of the table in routes.cpp; nothing else knows how many there are.
namespace hios::mpi {

/// The pairs of ranks that a route serves, by where the two compute.
struct ServedPairs {
  bool hosts = false;            ///< both in host memory
  bool device_and_host = false;  ///< one on a device
  bool devices = false;          ///< both on devices
};

struct Route {
  std::string_view name;         ///< in files, tables and options: "ipc"
  std::string_view description;  ///< for people, without a full stop
  ServedPairs serves;
  /// Only between ranks of one host.
  bool within_host = false;
  /// Why this rank cannot take part, by what its MPI says of itself; empty: it can. Null: every
  /// rank can. A yes is a hint only, see `probed`.
  std::string (*unavailable)(const Transport& transport) = nullptr;
  /// Whether it must be seen to work between two ranks before it is taken.
  bool probed = true;
  /// Whether the endpoints of the two sides exchange offers (Endpoint::offer) before the channel
  /// opens: then opening a channel is collective.
  bool exchanges_offers = false;
  /// Whether it takes messages without bytes; if not, these go by fallback_route().
  bool takes_empty = true;
  /// Whether a message is handed to the wrapped transport as it is, with its own tag. Where that is
  /// so between all ranks, channels are the wrapped transport's own.
  bool passes_through = false;

  /// The endpoints of one message. For a rank without a device only where the route serves a host.
  std::unique_ptr<Endpoint> (*make_send)(const EndpointParts& parts, const Message& message);
  std::unique_ptr<Endpoint> (*make_receive)(const EndpointParts& parts, const Message& message);
};

/// All of them, best first.
const std::vector<Route>& routes();

/// The one that carries every message between any two ranks, if slowly: the last of the table.
const Route& fallback_route();

/// By its place in the table.
std::size_t index_of(const Route& route);

/// Throws InputError that lists the names of the table.
const Route& route_named(std::string_view name);

bool serves(const Route& route, bool one_has_device, bool other_has_device);

/// What a pair of devices can be told to use: null for "auto", the best that works. Throws
/// InputError that lists the names.
const Route* parse_route(std::string_view text);

/// "ipc, cuda-aware and staged": the names that parse_route takes beside "auto"; `last` stands
/// before the last one.
std::string device_route_names(std::string_view last);

}  // namespace hios::mpi
