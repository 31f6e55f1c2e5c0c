#include "scheduler/split/modules/chain.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/milp/solver.h"
#include "scheduler/structures/numbers.h"

// An operator comparable with all others separates a schedule: everything before it has ended when
// it begins, and everything after it begins when it has ended. So the time of a module, from the
// end of its entry to the begin of its exit, depends on their two devices alone. The latency is the
// sum of the modules and of the operators between them. The optimum is a shortest path through
// nodes (operator between modules, device), whose arc lengths are optima of small problems.
//
// The arcs are evaluated lazily. Each starts with a bound that costs nothing. The shortest path
// under the present bounds is found, its unproved arcs are solved, and so on until all arcs of the
// path are proved. Arcs on no shortest path are never solved, and the path's length is a bound at
// any time.
//
// The paper overlooks that memory (and labels) couple modules. Each module here respects them by
// itself, so the length is a bound. The composed schedule is validated as a whole; if it is valid,
// it reaches the bound. Test: tests/scheduler/split/split_test.cpp.

namespace hios::scheduler::split {
namespace {

/// An arc of the path: a module with devices for its entry and exit.
struct Pair {
  double low_ms = 0, high_ms = kInfinity;
  bool closed = false;  ///< by a proof; no other will follow
  bool optimal = false;
  std::shared_ptr<const Subproblem> subproblem;  ///< null if no operator is between entry and exit
};

class Chain {
 public:
  Chain(const CostModel& costs, const std::vector<Module>& modules, double incumbent_ms,
        Prover& prover, const Context& context)
      : costs_(costs),
        modules_(modules),
        incumbent_ms_(incumbent_ms),
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
      const Path shortest = shortest_path(&Pair::low_ms);
      result.bound_ms = shortest.ms;
      std::vector<Pair*> open;
      for (Pair* pair : pairs_on(shortest)) {
        if (!pair->closed) open.push_back(pair);
      }
      const bool pruned = shortest.ms >= incumbent_ms_ * (1 - milp::kTolerance);
      if (open.empty() || pruned || prover_.timed_out()) break;
      prove(open);
    }
    compose(result);
    return result;
  }

 private:
  struct Path {
    double ms = kInfinity;
    std::vector<std::size_t> devices;  ///< the first module's entry's and every exit's
  };

  /// Returns true if the operator can run on the device; an absent end has one device, the first.
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
    pair.subproblem = std::make_shared<const Subproblem>(costs_, std::move(members));
    pair.low_ms = prover_.quick_bound_ms(*pair.subproblem);
    if (const Proof* known = prover_.known(*pair.subproblem)) close_by_proof(pair, *known);
    return pair;
  }

  static void close_by_proof(Pair& pair, const Proof& proof) {
    pair.low_ms = std::max(pair.low_ms, proof.low_ms);
    pair.high_ms = proof.high_ms;
    pair.optimal = proof.optimal;
    pair.closed = true;
  }

  void prove(const std::vector<Pair*>& open) {
    std::vector<std::shared_ptr<const Subproblem>> subproblems;
    for (const Pair* pair : open) subproblems.push_back(pair->subproblem);
    // Twice an even share of the time; easy modules leave more.
    prover_.prove(subproblems,
                  4 * prover_.seconds_left() / static_cast<double>(modules_.size() + 1));
    for (auto& row : pairs_) {
      for (Pair& pair : row) {
        if (pair.closed) continue;
        if (const Proof* known = prover_.known(*pair.subproblem)) close_by_proof(pair, *known);
      }
    }
    if (!context_.progress) return;
    context_.progress("modules: " + std::to_string(prover_.solved()) + " problems solved");
  }

  Path shortest_path(double Pair::*length) const {
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
    Path path{*last, {static_cast<std::size_t>(last - reached.begin())}};
    for (std::size_t m = modules_.size(); m-- > 0;) {
      path.devices.push_back(came_from[m][path.devices.back()]);
    }
    std::reverse(path.devices.begin(), path.devices.end());
    return path;
  }

  std::vector<Pair*> pairs_on(const Path& path) {
    std::vector<Pair*> pairs;
    for (std::size_t m = 0; m < modules_.size(); ++m) {
      pairs.push_back(&pairs_[m][path.devices[m] * devices_ + path.devices[m + 1]]);
    }
    return pairs;
  }

  void compose(ChainResult& result) {
    const Path path = shortest_path(&Pair::high_ms);
    if (path.ms == kInfinity) return;
    Schedule whole;
    whole.devices.resize(devices_);
    const auto append_end = [&](const std::optional<OpId>& end, std::size_t d) {
      if (end) whole.devices[d].push_back(Stage{{{*end}}});
    };
    append_end(modules_.front().entry, path.devices.front());
    const std::vector<Pair*> pairs = pairs_on(path);
    bool optimal = true;
    for (std::size_t m = 0; m < modules_.size(); ++m) {
      if (pairs[m]->subproblem) append(whole, modules_[m], *pairs[m]->subproblem);
      append_end(modules_[m].exit, path.devices[m + 1]);
      optimal = optimal && pairs[m]->optimal;
    }
    if (!validate(costs_.graph(), costs_.platform(), whole).empty()) return;
    const double latency_ms = simulate(costs_.graph(), whole, costs_).latency_ms;
    result.optimal = optimal && latency_ms <= result.bound_ms * (1 + 4 * milp::kTolerance);
    result.schedule = std::move(whole);
  }

  /// Appends the module's own operators, one a stage.
  void append(Schedule& whole, const Module& module, const Subproblem& subproblem) const {
    const Schedule& inside = prover_.known(subproblem)->schedule;
    for (std::size_t d = 0; d < devices_; ++d) {
      for (const Stage& stage : inside.devices[d]) {
        for (const Group& group : stage.groups) {
          for (OpId op : group) {
            const OpId known = subproblem.whole(op);
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
  double incumbent_ms_;
  Prover& prover_;
  const Context& context_;
  std::size_t devices_;
  std::vector<std::vector<Pair>> pairs_;  ///< by module, then entry's device × exit's device
};

}  // namespace

ChainResult shortest_chain(const CostModel& costs, const std::vector<Module>& modules,
                           double incumbent_ms, Prover& prover, const Context& context) {
  return Chain(costs, modules, incumbent_ms, prover, context).run();
}

}  // namespace hios::scheduler::split
