#include <tuple>

#include "hios/base/error.h"
#include "mpi/device/device_transport.h"
#include "mpi/device/route_probe.h"
#include "mpi/exchange.h"
#include "mpi/session/session.h"

// Every rank learns what every rank is, and from there all draw the same conclusions: which paths a
// pair might have, best first; each is tried, and all hear how it went, until one has come right.
// Both directions of a pair have the same path. Pairs are tried one after the other: for a handful
// of ranks that takes milliseconds, and a failure has one cause.
namespace hios::mpi {
namespace {

/// What a rank says of itself.
struct Facts {
  bool has_device = false;
  bool cuda_aware_mpi = false;
  std::string host;
  static auto fields(auto& self) {
    return std::tie(self.has_device, self.cuda_aware_mpi, self.host);
  }
};

/// Why a path cannot be between two ranks, before it is tried; empty: it may.
std::string hindrance(Route path, const Facts& a, const Facts& b) {
  switch (path) {
    case Route::kIpc:
      if (a.host != b.host) return "on different hosts";
      break;
    case Route::kCudaAware:
      if (!a.cuda_aware_mpi || !b.cuda_aware_mpi) return "this MPI is not CUDA-aware";
      break;
    case Route::kHost:
    case Route::kStaged:
      break;
  }
  return {};
}

std::vector<Route> candidates(const Facts& a, const Facts& b, std::optional<Route> forced) {
  if (!a.has_device && !b.has_device) return {Route::kHost};
  if (!a.has_device || !b.has_device) return {Route::kStaged};
  if (forced) return {*forced};
  return {Route::kIpc, Route::kCudaAware, Route::kStaged};
}

struct Choice {
  Route path = Route::kHost;
  std::string why_not;
};

/// The first candidate that comes right. The same on all ranks, and so is what it throws.
Choice choose(Transport& transport, Accelerator* device, const std::vector<Facts>& facts, Rank a,
              Rank b, std::optional<Route> forced) {
  const Facts& of_a = facts[a.index()];
  const Facts& of_b = facts[b.index()];
  Choice choice;
  for (const Route path : candidates(of_a, of_b, forced)) {
    choice.path = path;
    if (path == Route::kHost) return choice;
    std::string why = hindrance(path, of_a, of_b);
    if (why.empty()) why = probe_route(transport, device, path, a, b);
    if (why.empty()) {
      if (of_a.has_device != of_b.has_device) choice.why_not = "one of the two has no device";
      return choice;
    }
    choice.why_not += (choice.why_not.empty() ? "no " : "; no ");
    choice.why_not += std::string(name(path)) + ": " + why;
  }
  const std::string remedy =
      forced && of_a.has_device && of_b.has_device ? " (--transport auto takes another path)" : "";
  throw InputError("tensors cannot go between rank " + std::to_string(a.index()) + " and rank " +
                   std::to_string(b.index()) + ": " + choice.why_not + remedy);
}

}  // namespace

RouteTable choose_routes(Transport& transport, Accelerator* device, const RouteHints& hints) {
  agree_on_facts(transport,
                 {{"--transport", std::string(hints.forced ? name(*hints.forced) : "auto")}});
  const std::vector<Facts> facts =
      gather(transport, Facts{device != nullptr, hints.cuda_aware_mpi, transport.host()});
  const std::size_t ranks = transport.size();
  RouteTable paths{ranks, std::vector<Route>(ranks * ranks, Route::kHost),
                   std::vector<std::string>(ranks * ranks)};
  for (std::size_t a = 0; a < ranks; ++a) {
    for (std::size_t b = a + 1; b < ranks; ++b) {
      const Choice choice = choose(transport, device, facts, Rank(a), Rank(b), hints.forced);
      for (const std::size_t pair : {a * ranks + b, b * ranks + a}) {
        paths.by_pair[pair] = choice.path;
        paths.why_not[pair] = choice.why_not;
      }
    }
  }
  return paths;
}

}  // namespace hios::mpi
