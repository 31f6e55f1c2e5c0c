#include "scheduler/bounds/modules/modules.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/bounds/graph/class_costs.h"
#include "scheduler/bounds/modules/chain_modules.h"
#include "scheduler/bounds/modules/module_placement.h"
#include "scheduler/structures/graph_partition.h"
#include "scheduler/structures/numbers.h"

// Let a schedule take T, its separators run alone (bounds/separators.cpp), and D_m be the time of
// module m: from the end of its entry to the start of its exit. Then
//  - T is the sum of the separators' times and of all D_m;
//  - D_m is at least the length of each chain of m: its path shares, and the transfers between
//    classes along it, from the entry to the exit (graph/shares.cpp, 3 and 4);
//  - the work shares of m's operators on class k of c_k devices sum to c_k·D_m at most
//    (graph/shares.cpp, 2), as these operators run in m's time alone;
//  - the operators on class k hold at most the memory R_k of its devices together.
// So with any multipliers z_k >= 0 of memory and y_mk >= 0 of time, where Σ_k y_mk <= 1, T is at
// least
//   Σ times of separators + Σ_m ((1 − Σ_k y_mk) · longest chain of m + Σ_k y_mk · work of m on k /
//   c_k) + Σ_k z_k · (bytes on k / R_k − 1)
// for the schedule's own placement, and thus at least the minimum over all placements (Lagrangian
// relaxation). The minimum is found exactly, or from below (modules/module_placement.cpp): no
// operator is divided, and all branches of a fork see the same class of it.
//
// A supergradient is the slack of these inequalities in the minimum's placement. Multipliers follow
// it by Polyak's step to a target somewhat above the best bound, which is lowered while nothing
// improves; a step that would undo the one before is deflected. Any multipliers give a bound, so
// only its sum has a rounding error: all terms are positive but the last, and there are few for
// each operator.
//
// tests/scheduler/bounds/modules_test.cpp compares with brute force and with all placements.

namespace hios::scheduler {
namespace {

constexpr std::size_t kLeastModules = 2;  // of operators that run at the same time
constexpr std::size_t kMostLabels = 64;

class ModuleDual {
 public:
  ModuleDual(const ClassCosts& costs, const std::vector<ChainModule>& modules, double known_ms)
      : costs_(costs),
        modules_(modules),
        placement_(costs, modules),
        known_ms_(known_ms),
        most_ms_(2 * serial_ms(costs)),
        scale_ms_(known_ms) {
    for (std::size_t k = 0; k < costs.classes(); ++k) {
      if (costs.capacity[k] < kInfinity) limited_.push_back(k);
    }
    multipliers_.assign(limited_.size() + modules.size() * costs.classes(), 0);
  }

  /// Returns the largest bound found, or 0 where memory rather excludes all schedules, so that the
  /// multipliers would grow without end. The multipliers of memory come first: they are few, and
  /// gain most. As they are then near their best, the others may move further than they.
  double raise(const Deadline& deadline, double work) {
    constexpr double kScaleOfBest = 0.25;
    free_ = limited_.size();
    if (free_ > 0) climb({0.05, 2e-3}, deadline, work);
    if (best_ms_ > 0) rescale(kScaleOfBest * best_ms_);
    free_ = multipliers_.size();
    climb({0.02, 2e-4}, deadline, work);
    return best_ms_ < most_ms_ ? best_ms_ : 0;
  }

 private:
  /// Steps, as parts of the bound that they aim to gain.
  struct Steps {
    double first = 0, last = 0;
  };

  double room(std::size_t k) const { return costs_.capacity[k] * costs_.count[k]; }
  double& time_of(std::vector<double>& of, std::size_t m, std::size_t k) const {
    return of[limited_.size() + m * costs_.classes() + k];
  }

  /// Improves the free multipliers, until steps are as small as the last one.
  void climb(const Steps& steps, const Deadline& deadline, double& work) {
    constexpr double kLargestStep = 0.5, kGrowth = 1.3;
    constexpr int kPatience = 6;
    std::vector<double> best = multipliers_, best_slope;
    int waited = 0;
    last_slope_.clear();
    for (double step = steps.first; step > steps.last && best_ms_ < most_ms_;) {
      const std::optional<double> bound = bound_ms(deadline, work);
      if (!bound) break;
      std::vector<double> slope = slopes();
      double value = *bound;
      if (value > best_ms_ * (1 + step / 10)) {
        waited = 0;
        step = std::min(kGrowth * step, kLargestStep);
      } else if (++waited > kPatience) {
        waited = 0;
        step /= 2;
      }
      if (value > best_ms_ || best_slope.empty()) {
        best_ms_ = std::max(value, best_ms_);
        best = multipliers_;
        best_slope = slope;
      } else if (waited == 0) {  // again from the best ones, with a smaller step
        value = best_ms_;
        multipliers_ = best;
        slope = best_slope;
        last_slope_.clear();
      }
      deflect(slope);
      if (!move(slope, std::max(best_ms_, known_ms_) * (1 + step) - value)) break;
    }
    multipliers_ = best;
  }

  /// Turns the slope so that it does not undo the step before (Camerini, Fratta and Maffioli).
  void deflect(std::vector<double>& slope) {
    constexpr double kTurn = 1.5;
    double both = 0, squares = 0;
    for (std::size_t i = 0; i < last_slope_.size(); ++i) {
      both += slope[i] * last_slope_[i];
      squares += last_slope_[i] * last_slope_[i];
    }
    if (both < 0) {
      const double part = -kTurn * both / squares;
      for (std::size_t i = 0; i < slope.size(); ++i) slope[i] += part * last_slope_[i];
    }
    last_slope_ = slope;
  }

  void rescale(double scale_ms) {
    for (std::size_t i = 0; i < limited_.size(); ++i) multipliers_[i] *= scale_ms_ / scale_ms;
    scale_ms_ = scale_ms;
  }

  /// Returns the bound of the multipliers; nothing if the work is used up before.
  std::optional<double> bound_ms(const Deadline& deadline, double& work) {
    set_prices();
    const std::optional<double> least = placement_.least_ms(prices_, kMostLabels, deadline, work);
    if (!least || *least == kInfinity) return std::nullopt;
    double paid = 0;
    for (std::size_t i = 0; i < limited_.size(); ++i) paid += scale_ms_ * multipliers_[i];
    const double terms = 8 * static_cast<double>(costs_.operators) + 128;
    return *least - paid - terms * std::numeric_limits<double>::epsilon() * (*least + paid);
  }

  void set_prices() {
    prices_.price_ms.assign(costs_.operators * costs_.classes(), 0);
    for (std::size_t i = 0; i < limited_.size(); ++i) {
      const double per_byte = scale_ms_ * multipliers_[i] / room(limited_[i]);
      for (std::size_t v = 0; v < costs_.operators; ++v) {
        prices_.price_ms[costs_.cell(v, limited_[i])] += per_byte * costs_.bytes[v];
      }
    }
    prices_.path_part.assign(modules_.size(), 1);
    for (std::size_t m = 0; m < modules_.size(); ++m) {
      for (std::size_t k = 0; k < costs_.classes(); ++k) {
        const double multiplier = time_of(multipliers_, m, k);
        if (multiplier <= 0) continue;
        prices_.path_part[m] -= multiplier;
        each_operator(m, [&](std::uint32_t v) {
          const std::size_t cell = costs_.cell(v, k);
          if (!costs_.runs(v, k)) return;
          prices_.price_ms[cell] += multiplier * costs_.work_ms[cell] / costs_.count[k];
        });
      }
      prices_.path_part[m] = std::max(0.0, prices_.path_part[m]);
    }
  }

  template <class Visit>
  void each_operator(std::size_t m, Visit visit) const {
    for (const ModuleChain& chain : modules_[m].chains) {
      for (std::uint32_t v : chain.operators) visit(v);
    }
  }

  /// Returns a supergradient, by multiplier.
  std::vector<double> slopes() {
    const PlacedModules placed = placement_.placed();
    std::vector<double> result(multipliers_.size(), 0);
    std::vector<double> held(costs_.classes(), 0);
    for (std::size_t v = 0; v < costs_.operators; ++v) held[placed.classes[v]] += costs_.bytes[v];
    for (std::size_t i = 0; i < limited_.size(); ++i) {
      result[i] = scale_ms_ * (held[limited_[i]] / room(limited_[i]) - 1);
    }
    for (std::size_t m = 0; m < modules_.size(); ++m) {
      for (std::size_t k = 0; k < costs_.classes(); ++k) {
        time_of(result, m, k) = -placed.length_ms[m];
      }
      each_operator(m, [&](std::uint32_t v) {
        const std::size_t k = placed.classes[v];
        time_of(result, m, k) += costs_.work_ms[costs_.cell(v, k)] / costs_.count[k];
      });
    }
    std::fill(result.begin() + static_cast<std::ptrdiff_t>(free_), result.end(), 0.0);
    return result;
  }

  /// Moves the multipliers along a supergradient, so far that the bound would rise by `missing_ms`
  /// were it linear. Returns false if no multiplier moves.
  bool move(const std::vector<double>& slope, double missing_ms) {
    double squares = 0;
    for (std::size_t i = 0; i < slope.size(); ++i) {
      if (slope[i] > 0 || multipliers_[i] > 0) squares += slope[i] * slope[i];
    }
    if (!(squares > 0)) return false;
    const double length = missing_ms / squares;
    for (std::size_t i = 0; i < slope.size(); ++i) {
      multipliers_[i] = std::max(0.0, multipliers_[i] + length * slope[i]);
    }
    for (std::size_t m = 0; m < modules_.size(); ++m) {
      double sum = 0;
      for (std::size_t k = 0; k < costs_.classes(); ++k) sum += time_of(multipliers_, m, k);
      if (sum <= 1) continue;
      for (std::size_t k = 0; k < costs_.classes(); ++k) time_of(multipliers_, m, k) /= sum;
    }
    return true;
  }

  const ClassCosts& costs_;
  const std::vector<ChainModule>& modules_;
  ModulePlacement placement_;
  double known_ms_, most_ms_;
  double scale_ms_;                   // of the multipliers of memory, so that all are numbers
  std::vector<std::size_t> limited_;  // classes whose memory is limited
  std::vector<double> multipliers_;   // by limited class, then by module × class
  std::size_t free_ = 0;              // the first multipliers, which move; the others do not
  std::vector<double> last_slope_;    // along which they moved last
  ModulePrices prices_;
  double best_ms_ = 0;
};

/// Returns true if several modules of several operators are between separators. O(V + E).
bool has_modules(const Graph& graph) {
  const auto subgraphs = partition_graph(graph, std::numeric_limits<std::size_t>::max()).subgraphs;
  const auto several = [](const auto& subgraph) { return subgraph.size() > 1; };
  return static_cast<std::size_t>(std::ranges::count_if(subgraphs, several)) >= kLeastModules;
}

}  // namespace

double modules_ms(const BoundGraph& graph, const BoundContext& context, double known_ms) {
  if (graph.size() == 0 || !(known_ms > 0) || context.stopped()) return 0;
  if (context.costs.platform().size() < 2 || !has_modules(context.graph)) return 0;
  const std::optional<ClassCosts> costs = class_costs(graph, context);
  if (!costs) return 0;
  const std::vector<ChainModule> modules = chain_modules(context.graph, graph, *costs);
  ModuleDual dual(*costs, modules, known_ms);
  const double bound = dual.raise(context.deadline, work_for(*costs));
  return bound > known_ms ? bound : 0;
}

}  // namespace hios::scheduler
