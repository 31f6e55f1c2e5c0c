#include "engine/measure/routes/route_rates.h"

#include <algorithm>
#include <exception>
#include <numeric>
#include <thread>
#include <utility>

#include "engine/host/clock.h"

// A set of routes starts at a barrier, and each goes on until its own window is over, so that all
// but the last piece of each route moves together with the others. Rounds over all sets are in
// turns: what disturbs the machine for a moment then hits one round of several. It only slows, so
// the round in which a set carried most counts. tests/engine/measure/routes/routes_test.cpp

namespace hios {
namespace {

constexpr int kLatencySamples = 25;

double middle_of(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// A route of this rank in a set: the bytes that it moved, and for how long.
struct Carried {
  RouteSource* source = nullptr;
  double bytes = 0;
  double ms = 0;
  std::exception_ptr error;

  double gb_per_s() const { return bytes / (ms * 1e6); }
  void move(const Stopwatch& watch) {
    source->move(kLargestMove);
    bytes += static_cast<double>(kLargestMove);
    ms = watch.ms();
  }
};

void carry(Carried& route, double window_ms) {
  try {
    const Stopwatch watch;
    do route.move(watch);
    while (route.ms < window_ms);
  } catch (...) {
    route.error = std::current_exception();
  }
}

/// Moves bytes of all routes on this thread, in turns.
void carry_in_turns(std::vector<Carried>& routes, double window_ms) {
  const Stopwatch watch;
  do {
    for (Carried& route : routes) route.move(watch);
  } while (watch.ms() < window_ms);
}

/// The measuring of sets of routes on one rank.
class RouteSets {
 public:
  RouteSets(mpi::Transport& transport, const RouteSources& mine, std::size_t count,
            const RouteProtocol& protocol)
      : transport_(transport), mine_(mine), count_(count), protocol_(protocol) {}

  /// Returns the rates of the active routes, by route; those of others are 0. Collective.
  std::vector<double> rates(const std::vector<std::size_t>& active) {
    std::vector<Carried> carried;
    std::vector<std::size_t> routes;
    for (const std::size_t route : active) {
      const auto found = mine_.find(route);
      if (found == mine_.end()) continue;
      carried.emplace_back().source = found->second.get();
      routes.push_back(route);
    }
    transport_.barrier();
    run_watched(carried);
    std::vector<double> rates(count_, 0);
    for (std::size_t i = 0; i < carried.size(); ++i) {
      if (carried[i].error) std::rethrow_exception(carried[i].error);
      rates[routes[i]] = carried[i].gb_per_s();
    }
    transport_.all_reduce_max(rates);
    return rates;
  }

  /// Returns true if some rank was disturbed so far. Collective.
  bool were_disturbed() {
    double any = disturbed({}, counts_, watched_ms_) ? 1 : 0;
    transport_.all_reduce_max({&any, 1});
    return any > 0;
  }

  /// Returns the time of the smallest move, by route, one route after the other. Collective.
  std::vector<double> latencies_ms() {
    std::vector<double> latencies(count_, 0);
    for (std::size_t route = 0; route < count_; ++route) {
      transport_.barrier();
      const auto found = mine_.find(route);
      if (found == mine_.end()) continue;
      std::vector<double> samples;
      for (int i = 0; i < kLatencySamples; ++i) {
        const Stopwatch watch;
        found->second->move(kSmallestMove);
        samples.push_back(watch.ms());
      }
      latencies[route] = middle_of(std::move(samples));
    }
    transport_.all_reduce_max(latencies);
    return latencies;
  }

 private:
  void run_watched(std::vector<Carried>& carried) {
    if (carried.size() != 1 || protocol_.disturbance == nullptr) return run(carried);
    const DisturbanceCounts before = protocol_.disturbance->read();
    const Stopwatch watch;
    run(carried);
    watched_ms_ += watch.ms();
    const DisturbanceCounts after = protocol_.disturbance->read();
    counts_.stolen_ms += after.stolen_ms - before.stolen_ms;
    counts_.switches += after.switches - before.switches;
  }
  void run(std::vector<Carried>& carried) {
    if (carried.empty()) return;
    if (protocol_.one_thread) return carry_in_turns(carried, protocol_.window_ms);
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < carried.size(); ++i)
      threads.emplace_back([&, i] { carry(carried[i], protocol_.window_ms); });
    carry(carried.front(), protocol_.window_ms);
  }

  mpi::Transport& transport_;
  const RouteSources& mine_;
  const std::size_t count_;
  const RouteProtocol& protocol_;
  DisturbanceCounts counts_;
  double watched_ms_ = 0;
};

/// Returns all sets to be measured: each route alone, each pair unless there are too many routes,
/// and all where these are more than two.
std::vector<std::vector<std::size_t>> sets_of(std::size_t count, std::size_t most_in_pairs) {
  std::vector<std::vector<std::size_t>> sets;
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < count; ++i) {
    sets.push_back({i});
    all.push_back(i);
  }
  for (std::size_t i = 0; i < count && count <= most_in_pairs; ++i) {
    for (std::size_t j = i + 1; j < count; ++j) sets.push_back({i, j});
  }
  if (count > 2) sets.push_back(std::move(all));
  return sets;
}

}  // namespace

double expected_seconds(std::size_t count, const RouteProtocol& protocol) {
  const std::size_t sets = sets_of(count, protocol.most_in_pairs).size();
  return static_cast<double>(sets) * protocol.rounds * protocol.window_ms / 1000;
}

RouteFigures route_figures(mpi::Transport& transport, const RouteSources& mine, std::size_t count,
                           const RouteProtocol& protocol) {
  RouteSets measured(transport, mine, count, protocol);
  const auto sets = sets_of(count, protocol.most_in_pairs);
  const std::size_t all = sets.size() * static_cast<std::size_t>(protocol.rounds);
  std::vector<std::vector<double>> best(sets.size());  // by set and route
  for (std::size_t done = 0; done < all; ++done) {
    if (protocol.progress) protocol.progress(done, all);
    const std::size_t set = done % sets.size();
    std::vector<double> rates = measured.rates(sets[set]);
    if (best[set].empty() || sum_of(rates) > sum_of(best[set])) best[set] = std::move(rates);
  }

  RouteFigures figures;
  figures.rates.alone.assign(count, 0);
  figures.rates.pairs.assign(count, std::vector<double>(count, 0));
  for (std::size_t set = 0; set < sets.size(); ++set) {
    const std::vector<std::size_t>& routes = sets[set];
    if (routes.size() == 1) figures.rates.alone[routes[0]] = best[set][routes[0]];
    if (routes.size() == 2) {
      figures.rates.pairs[routes[0]][routes[1]] = best[set][routes[0]];
      figures.rates.pairs[routes[1]][routes[0]] = best[set][routes[1]];
    }
    if (routes.size() > 2) figures.rates.together = best[set];
  }
  for (std::size_t i = 0; i < count && count > protocol.most_in_pairs; ++i) {
    figures.rates.pairs[i].assign(count, figures.rates.alone[i]);
    figures.rates.pairs[i][i] = 0;
  }
  figures.disturbed = measured.were_disturbed();
  figures.latency_ms = measured.latencies_ms();
  return figures;
}

}  // namespace hios
