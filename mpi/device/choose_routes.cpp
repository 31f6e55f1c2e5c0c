#include "mpi/device/choose_routes.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/need.h"
#include "hios/flight/recorder.h"
#include "mpi/device/route_probe.h"
#include "mpi/exchange.h"
#include "mpi/pair_rounds.h"
#include "mpi/session/agreement.h"

// Every rank gathers the facts of every rank, and all draw the same conclusions: the candidate
// routes of a pair, best first. The routes are tried one after the other, each between all pairs
// that have no better one, until every pair has one. Both directions of a pair have the same route.
//
// Pairs that have no rank in common are tried at the same time, so n ranks take about n rounds. A
// route that fails without an answer costs the whole patience, and would cost it again for every
// other pair of GPUs that lie in the same way: on the same host or not, on the same GPU or not. So
// it is not tried again between these.
namespace hios::mpi {
namespace {

/// The properties of a rank that decide about its routes.
struct Facts {
  std::string device;  ///< its identity; empty: none
  std::string host;
  // by route: the reason why this rank cannot use it; empty: it can
  std::vector<std::string> unavailable;
  static auto fields(auto& self) { return std::tie(self.device, self.host, self.unavailable); }
  bool has_device() const { return !device.empty(); }
};

Facts facts_of(const Transport& transport, const Accelerator* device) {
  Facts facts{device != nullptr ? device->identity() : "", transport.host(), {}};
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

/// The way in which two ranks lie: on the same host, on the same device.
using Placement = std::pair<bool, bool>;

std::string ranks_text(const RankPair& pair) {
  return "rank " + std::to_string(pair.first.index()) + " and rank " +
         std::to_string(pair.second.index());
}

/// Chooses the routes of all pairs. Its decisions are the same on all ranks.
class RouteChoice {
 public:
  RouteChoice(Transport& transport, Accelerator* device, const Route* forced,
              std::chrono::milliseconds patience)
      : transport_(transport),
        device_(device),
        forced_(forced),
        patience_(patience),
        facts_(gather(transport, facts_of(transport, device))),
        // A rank sends nothing to itself, so any route will do for that.
        table_(RouteTable::uniform(transport.size(), routes().front())) {
    for (std::size_t a = 0; a < facts_.size(); ++a) {
      table_.devices = table_.devices || facts_[a].has_device();
      for (std::size_t b = a + 1; b < facts_.size(); ++b) open_.emplace_back(Rank(a), Rank(b));
    }
  }

  RouteTable table() {
    flight::Recorder* const recorder = transport_.recorder();
    const std::string before = recorder ? recorder->read().phase : "";
    for (const Route& route : routes()) choose(route);
    if (tried_) note_phase(before);
    if (!open_.empty()) refuse(open_.front());
    return std::move(table_);
  }

 private:
  const Facts& facts(Rank rank) const { return facts_[rank.index()]; }
  bool both_have_devices(const RankPair& pair) const {
    return facts(pair.first).has_device() && facts(pair.second).has_device();
  }
  Placement placement(const RankPair& pair) const {
    const Facts &a = facts(pair.first), &b = facts(pair.second);
    return {a.host == b.host, a.host == b.host && a.device == b.device};
  }

  bool is_candidate(const Route& route, const RankPair& pair) const {
    if (forced_ != nullptr && both_have_devices(pair) && forced_->serves.devices)
      return forced_ == &route;
    return serves(route, facts(pair.first).has_device(), facts(pair.second).has_device());
  }

  /// The recorder has what this rank is at if it crashes, perhaps within a library.
  void note_phase(const std::string& what) const {
    if (flight::Recorder* const recorder = transport_.recorder()) recorder->phase(what);
  }
  void choose(const Route& route);
  void probe_group(const Route& route, const std::vector<RankPair>& pairs);
  void probe(const Route& route, const std::vector<RankPair>& pairs);
  void take(const Route& route, const RankPair& pair);
  void rule_out(const Route& route, const RankPair& pair, const std::string& why);
  [[noreturn]] void refuse(const RankPair& pair);

  Transport& transport_;
  Accelerator* device_;
  const Route* forced_;
  const std::chrono::milliseconds patience_;
  const std::vector<Facts> facts_;
  RouteTable table_;
  std::vector<RankPair> open_;  // pairs without a route
  std::map<RankPair, std::string> why_not_;
  bool tried_ = false;
};

/// Takes a route for all pairs between which it works and no better one does.
void RouteChoice::choose(const Route& route) {
  std::vector<RankPair> able;
  for (const RankPair& pair : std::vector<RankPair>(open_)) {
    if (!is_candidate(route, pair)) continue;
    const std::string why = why_impossible(route, facts(pair.first), facts(pair.second));
    if (!why.empty()) {
      rule_out(route, pair, why);
    } else if (!route.probed) {
      take(route, pair);
    } else {
      able.push_back(pair);
    }
  }
  if (able.empty()) return;
  tried_ = true;
  note_phase("trying the route " + std::string(route.name) + " between ranks");
  route.join ? probe_group(route, able) : probe(route, able);
}

/// Takes a route whose messages share a state for all of the pairs or for none: a message that gets
/// lost may harm the state for all.
void RouteChoice::probe_group(const Route& route, const std::vector<RankPair>& pairs) {
  std::shared_ptr<SharedByRoute>& shared = table_.shared[index_of(route)];
  std::string why = route.join(transport_, device_, shared);
  for (const std::vector<RankPair>& round : disjoint_rounds(pairs)) {
    if (!why.empty()) break;
    const std::vector<ProbeResult> results =
        probe_route(transport_, device_, route, round, table_.shared, patience_);
    for (std::size_t i = 0; i < round.size() && why.empty(); ++i) {
      if (results[i].failure.empty()) continue;
      why = "between " + ranks_text(round[i]) + ": " + results[i].failure;
    }
  }
  for (const RankPair& pair : pairs) {
    why.empty() ? take(route, pair) : rule_out(route, pair, why);
  }
  if (!why.empty()) shared.reset();
}

void RouteChoice::probe(const Route& route, const std::vector<RankPair>& pairs) {
  /// The pairs of a placement that lost the whole patience, and why.
  std::map<Placement, std::pair<RankPair, std::string>> timed_out;
  for (const std::vector<RankPair>& round : disjoint_rounds(pairs)) {
    std::vector<RankPair> tried;
    for (const RankPair& pair : round) {
      const auto found = timed_out.find(placement(pair));
      if (found == timed_out.end()) {
        tried.push_back(pair);
      } else {
        rule_out(route, pair,
                 "not tried, since between " + ranks_text(found->second.first) +
                     ", which lie alike, it failed: " + found->second.second);
      }
    }
    if (tried.empty()) continue;
    const std::vector<ProbeResult> results =
        probe_route(transport_, device_, route, tried, table_.shared, patience_);
    for (std::size_t i = 0; i < tried.size(); ++i) {
      if (results[i].timed_out) {
        timed_out.emplace(placement(tried[i]), std::pair(tried[i], results[i].failure));
      }
      if (results[i].failure.empty()) {
        take(route, tried[i]);
      } else {
        rule_out(route, tried[i], results[i].failure);
      }
    }
  }
}

void RouteChoice::take(const Route& route, const RankPair& pair) {
  const auto& [a, b] = pair;
  const bool mixed = facts(a).has_device() != facts(b).has_device();
  table_.set(a, b, route, mixed ? "one of the two has no device" : why_not_[pair]);
  std::erase(open_, pair);
}

void RouteChoice::rule_out(const Route& route, const RankPair& pair, const std::string& why) {
  std::string& text = why_not_[pair];
  text += (text.empty() ? "no " : "; no ") + std::string(route.name) + ": " + why;
}

void RouteChoice::refuse(const RankPair& pair) {
  const Need need = forced_ != nullptr && both_have_devices(pair) ? need::OtherRoute{} : Need{};
  throw InputError("tensors cannot go between " + ranks_text(pair) + ": " + why_not_[pair], need);
}

}  // namespace

RouteTable choose_routes(Transport& transport, Accelerator* device, const Route* forced,
                         std::chrono::milliseconds patience) {
  agree_on_facts(transport,
                 {{"the transport asked for", std::string(forced ? forced->name : "auto")}});
  return RouteChoice(transport, device, forced, patience).table();
}

}  // namespace hios::mpi
