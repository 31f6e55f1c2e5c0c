#include "mpi/device/choose_routes.h"

#include <string>
#include <tuple>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/need.h"
#include "mpi/device/route_probe.h"
#include "mpi/exchange.h"
#include "mpi/session/agreement.h"

// Every rank gathers the facts of every rank, and all draw the same conclusions: the candidate
// routes of a pair, best first. Each candidate is tried, and all ranks learn the result, until one
// works. Both directions of a pair have the same route. Pairs are tried one after another: for a
// handful of ranks that takes milliseconds, and a failure has one cause.
namespace hios::mpi {
namespace {

/// The properties of a rank that decide about its routes.
struct Facts {
  bool has_device = false;
  std::string host;
  // by route: the reason why this rank cannot use it; empty: it can
  std::vector<std::string> unavailable;
  static auto fields(auto& self) { return std::tie(self.has_device, self.host, self.unavailable); }
};

Facts facts_of(const Transport& transport, const Accelerator* device) {
  Facts facts{device != nullptr, transport.host(), {}};
  for (const Route& route : routes()) {
    facts.unavailable.push_back(route.unavailable ? route.unavailable(transport) : "");
  }
  return facts;
}

/// Returns the reason why a route is impossible between two ranks, found without trying it; empty:
/// none.
std::string why_impossible(const Route& route, const Facts& a, const Facts& b) {
  if (route.within_host && a.host != b.host) return "on different hosts";
  const std::string& of_a = a.unavailable[index_of(route)];
  return of_a.empty() ? b.unavailable[index_of(route)] : of_a;
}

/// Returns the routes that serve the two ranks, best first.
std::vector<const Route*> candidates(const Facts& a, const Facts& b, const Route* forced) {
  const bool both = a.has_device && b.has_device;
  if (forced != nullptr && both && forced->serves.devices) return {forced};
  std::vector<const Route*> found;
  for (const Route& route : routes()) {
    if (serves(route, a.has_device, b.has_device)) found.push_back(&route);
  }
  return found;
}

struct ChosenRoute {
  const Route* route = nullptr;
  std::string why_not;
};

/// Returns the first candidate that works. The result is the same on all ranks, as is the
/// exception.
ChosenRoute choose(Transport& transport, Accelerator* device, const std::vector<Facts>& facts,
                   Rank a, Rank b, const Route* forced) {
  const Facts& of_a = facts[a.index()];
  const Facts& of_b = facts[b.index()];
  ChosenRoute choice;
  for (const Route* const route : candidates(of_a, of_b, forced)) {
    choice.route = route;
    std::string why = why_impossible(*route, of_a, of_b);
    if (why.empty() && route->probed) why = probe_route(transport, device, *route, a, b);
    if (why.empty()) {
      if (of_a.has_device != of_b.has_device) choice.why_not = "one of the two has no device";
      return choice;
    }
    choice.why_not += (choice.why_not.empty() ? "no " : "; no ");
    choice.why_not += std::string(route->name) + ": " + why;
  }
  const bool was_forced = forced != nullptr && of_a.has_device && of_b.has_device;
  const Need need = was_forced ? need::OtherRoute{} : Need{};
  throw InputError("tensors cannot go between rank " + std::to_string(a.index()) + " and rank " +
                       std::to_string(b.index()) + ": " + choice.why_not,
                   need);
}

}  // namespace

RouteTable choose_routes(Transport& transport, Accelerator* device, const Route* forced) {
  agree_on_facts(transport,
                 {{"the transport asked for", std::string(forced ? forced->name : "auto")}});
  const std::vector<Facts> facts = gather(transport, facts_of(transport, device));
  const std::size_t ranks = transport.size();
  // A rank sends nothing to itself, so any route will do for that.
  RouteTable table = RouteTable::uniform(ranks, routes().front());
  for (std::size_t a = 0; a < ranks; ++a) {
    table.devices = table.devices || facts[a].has_device;
    for (std::size_t b = a + 1; b < ranks; ++b) {
      const ChosenRoute choice = choose(transport, device, facts, Rank(a), Rank(b), forced);
      table.set(Rank(a), Rank(b), *choice.route, choice.why_not);
    }
  }
  return table;
}

}  // namespace hios::mpi
