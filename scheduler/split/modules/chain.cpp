#include "scheduler/split/modules/chain.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/milp/solver.h"

// All before an operator that is comparable with all others have ended when it begins, and all
// behind it begin when it has ended: no work is on any device then but its own. So what a module
// takes, from the end of its entry to the begin of its exit, depends on their two devices alone,
// and the latency is the sum of the modules and of the operators between them: a shortest way
// through (operator between modules, device), whose lengths are optima of small problems.
//
// They are asked for lazily: a pair starts with a bound that costs nothing, the shortest way by
// what is known is found, those of its pairs that are not proved are, and so on until all of its
// pairs are. What no shortest way uses is never solved, and the way's length is a bound at any
// time.
//
// The paper forgets that memory (and labels) couple modules: each module here keeps them for itself
// alone, which makes the length a bound; the schedule is judged as a whole, and if it is valid, the
// bound is reached. Test: tests/scheduler/split/split_test.cpp.

namespace hios::scheduler::split {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A module with devices for its ends.
struct Pair {
  double low_ms = 0, high_ms = kInfinity;
  bool closed = false;  ///< nothing more will be known
  bool optimal = false;
  std::shared_ptr<const Piece> piece;  ///< null where nothing is between entry and exit
};

class Chain {
 public:
  Chain(const CostModel& costs, const std::vector<Module>& modules, double known_ms, Prover& prover,
        const Context& context)
      : costs_(costs),
        modules_(modules),
        known_ms_(known_ms),
        prover_(prover),
        context_(context),
        devices_(costs.platform().size()) {
    for (const Module& module : modules) {
      auto& row = pairs_.emplace_back();
      for (std::size_t from = 0; from < devices_; ++from) {
        for (std::size_t to = 0; to < devices_; ++to) row.push_back(open_pair(module, from, to));
      }
    }
  }

  ChainResult run() {
    ChainResult result;
    while (true) {
      const Way shortest = shortest_way(&Pair::low_ms);
      result.bound_ms = shortest.ms;
      std::vector<Pair*> open;
      for (Pair* pair : pairs_on(shortest)) {
        if (!pair->closed) open.push_back(pair);
      }
      const bool hopeless = shortest.ms >= known_ms_ * (1 - milp::kTolerance);
      if (open.empty() || hopeless || prover_.timed_out()) break;
      close(open);
    }
    compose(result);
    return result;
  }

 private:
  struct Way {
    double ms = kInfinity;
    std::vector<std::size_t> devices;  ///< of the entry of the first module, and of every exit
  };

  /// An end that is absent has one device, the first.
  bool possible(const std::optional<OpId>& end, std::size_t d) const {
    return end ? costs_.can_run(*end, DeviceId(d)) : d == 0;
  }

  double end_ms(const std::optional<OpId>& end, std::size_t d) const {
    if (!possible(end, d)) return kInfinity;
    return end ? costs_.operator_ms(*end, DeviceId(d)) : 0;
  }

  Pair open_pair(const Module& module, std::size_t from, std::size_t to) {
    Pair pair;
    if (!possible(module.entry, from) || !possible(module.exit, to)) {
      return {kInfinity, kInfinity, true, true, nullptr};
    }
    if (module.between.empty()) {
      pair = {0, 0, true, true, nullptr};
      if (!module.entry || !module.exit) return pair;
      for (EdgeId e : costs_.graph().in_edges(*module.exit)) {
        if (costs_.graph().edge(e).from != *module.entry) continue;
        pair.low_ms = std::max(pair.low_ms, costs_.transfer_ms(e, DeviceId(from), DeviceId(to)));
      }
      pair.high_ms = pair.low_ms;
      return pair;
    }
    std::vector<Member> members;
    if (module.entry) members.push_back({*module.entry, DeviceId(from), true});
    for (OpId op : module.between) members.push_back({op});
    if (module.exit) members.push_back({*module.exit, DeviceId(to), true});
    pair.piece = std::make_shared<const Piece>(costs_, std::move(members));
    pair.low_ms = prover_.quick_low_ms(*pair.piece);
    if (const Proof* known = prover_.known(*pair.piece)) take(pair, *known);
    return pair;
  }

  static void take(Pair& pair, const Proof& proof) {
    pair.low_ms = std::max(pair.low_ms, proof.low_ms);
    pair.high_ms = proof.high_ms;
    pair.optimal = proof.optimal;
    pair.closed = true;
  }

  void close(const std::vector<Pair*>& open) {
    std::vector<std::shared_ptr<const Piece>> pieces;
    for (const Pair* pair : open) pieces.push_back(pair->piece);
    // Twice the share that each would have if all modules were alike; easy ones leave more.
    prover_.prove(pieces, 4 * prover_.seconds_left() / static_cast<double>(modules_.size() + 1));
    for (auto& row : pairs_) {
      for (Pair& pair : row) {
        if (pair.closed) continue;
        if (const Proof* known = prover_.known(*pair.piece)) take(pair, *known);
      }
    }
    if (!context_.progress) return;
    context_.progress("modules: " + std::to_string(prover_.solved()) + " problems solved");
  }

  Way shortest_way(double Pair::*length) const {
    std::vector<double> reached(devices_);
    for (std::size_t d = 0; d < devices_; ++d) reached[d] = end_ms(modules_.front().entry, d);
    std::vector<std::vector<std::size_t>> came_from;
    for (std::size_t m = 0; m < modules_.size(); ++m) {
      std::vector<double> next(devices_, kInfinity);
      auto& from = came_from.emplace_back(devices_, 0);
      for (std::size_t to = 0; to < devices_; ++to) {
        for (std::size_t d = 0; d < devices_; ++d) {
          const double ms = reached[d] + pairs_[m][d * devices_ + to].*length;
          if (ms >= next[to]) continue;
          next[to] = ms;
          from[to] = d;
        }
        next[to] += end_ms(modules_[m].exit, to);
      }
      reached = std::move(next);
    }
    const auto last = std::min_element(reached.begin(), reached.end());
    Way way{*last, {static_cast<std::size_t>(last - reached.begin())}};
    for (std::size_t m = modules_.size(); m-- > 0;) {
      way.devices.push_back(came_from[m][way.devices.back()]);
    }
    std::reverse(way.devices.begin(), way.devices.end());
    return way;
  }

  std::vector<Pair*> pairs_on(const Way& way) {
    std::vector<Pair*> pairs;
    for (std::size_t m = 0; m < modules_.size(); ++m) {
      pairs.push_back(&pairs_[m][way.devices[m] * devices_ + way.devices[m + 1]]);
    }
    return pairs;
  }

  void compose(ChainResult& result) {
    const Way way = shortest_way(&Pair::high_ms);
    if (way.ms == kInfinity) return;
    Schedule whole;
    whole.devices.resize(devices_);
    const auto place = [&](const std::optional<OpId>& end, std::size_t d) {
      if (end) whole.devices[d].push_back(Stage{{{*end}}});
    };
    place(modules_.front().entry, way.devices.front());
    const std::vector<Pair*> pairs = pairs_on(way);
    bool optimal = true;
    for (std::size_t m = 0; m < modules_.size(); ++m) {
      if (pairs[m]->piece) append(whole, modules_[m], *pairs[m]->piece);
      place(modules_[m].exit, way.devices[m + 1]);
      optimal = optimal && pairs[m]->optimal;
    }
    if (!validate(costs_.graph(), costs_.platform(), whole).empty()) return;
    const double latency_ms = simulate(costs_.graph(), whole, costs_).latency_ms;
    result.optimal = optimal && latency_ms <= result.bound_ms * (1 + 4 * milp::kTolerance);
    result.schedule = std::move(whole);
  }

  /// The module's own operators, one a stage.
  void append(Schedule& whole, const Module& module, const Piece& piece) const {
    const Schedule& inside = prover_.known(piece)->schedule;
    for (std::size_t d = 0; d < devices_; ++d) {
      for (const Stage& stage : inside.devices[d]) {
        for (const Group& group : stage.groups) {
          for (OpId op : group) {
            const OpId known = piece.whole(op);
            if (known != module.entry && known != module.exit) {
              whole.devices[d].push_back(Stage{{{known}}});
            }
          }
        }
      }
    }
  }

  const CostModel& costs_;
  const std::vector<Module>& modules_;
  double known_ms_;
  Prover& prover_;
  const Context& context_;
  std::size_t devices_;
  std::vector<std::vector<Pair>> pairs_;  ///< by module, then entry's device × exit's device
};

}  // namespace

ChainResult shortest_chain(const CostModel& costs, const std::vector<Module>& modules,
                           double known_ms, Prover& prover, const Context& context) {
  return Chain(costs, modules, known_ms, prover, context).run();
}

}  // namespace hios::scheduler::split
