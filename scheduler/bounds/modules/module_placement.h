#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/bounds/graph/class_costs.h"
#include "scheduler/bounds/modules/chain_modules.h"
#include "scheduler/bounds/modules/path_labels.h"
#include "scheduler/deadline.h"

namespace hios::scheduler {

/// Dual prices of operators on classes.
struct ModulePrices {
  std::vector<double> price_ms;  ///< by operator × class, at least 0
  /// By module, the part of its time that counts, 0 to 1: the rest is in its operators' prices.
  std::vector<double> path_part;
};

/// A placement of all operators.
struct PlacedModules {
  std::vector<std::uint32_t> classes;  ///< by operator
  std::vector<double> length_ms;       ///< by module, its longest chain with transfers
};

/// The cheapest placement of all operators on classes (proof in module_placement.cpp).
class ModulePlacement {
 public:
  /// The arguments outlive it.
  ModulePlacement(const ClassCosts& costs, const std::vector<ChainModule>& modules);

  /// Returns the minimum over all placements of the separators' path shares, the longest chains of
  /// modules, times path_part, and all prices; infinity if no placement is possible. Lists of more
  /// than `most_labels` are merged, so that the sum is below the minimum. Returns nothing once the
  /// deadline expires or `work` is used up, which it reduces by about the labels visited.
  std::optional<double> least_ms(const ModulePrices& prices, std::size_t most_labels,
                                 const Deadline& deadline, double& work);
  /// Returns the placement of the last minimum, as it is where lists were not merged. REQUIRES: the
  /// minimum was finite.
  PlacedModules placed();

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  /// An operator on a class at the end of a path, and the rest of the path.
  struct Trace {
    std::uint32_t before = kNone;
    std::uint32_t k = 0;
  };
  /// The ways to place a chain after an entry's class, by class of the exit.
  using ByExit = std::vector<PathLabels>;

  std::size_t states(std::optional<std::uint32_t> separator) const;
  double separator_ms(std::optional<std::uint32_t> separator, std::size_t state) const;
  std::vector<bool> worthwhile(const ChainModule& module, const std::vector<double>& before) const;
  double change_ms(const ChainModule& module, std::size_t from, std::size_t to) const;
  void place_module(const ChainModule& module, std::size_t entry, double before_ms,
                    std::vector<double>& after, std::vector<std::uint32_t>& from);
  void place_chain(const ModuleChain& chain, std::optional<std::size_t> entry, ByExit& into);
  void begin_chain(const ModuleChain& chain, std::optional<std::size_t> entry);
  void arrive(const ClassEdge* edge, double least_ms, ByExit& into);
  void add_operator(std::uint32_t v);
  void join_chains(const ChainModule& module, std::optional<std::size_t> entry, std::size_t exit);
  const PathLabel& cheapest_joined() const;
  double trace_module(const ChainModule& module, std::size_t entry, std::size_t exit,
                      std::vector<std::uint32_t>& classes);

  const ClassCosts& costs_;
  const std::vector<ChainModule>& modules_;
  const ModulePrices* prices_ = nullptr;
  double path_part_ = 1;  // of the current module
  std::size_t most_labels_ = 0;
  double visited_ = 0;                            // labels, since the last check of the work
  std::vector<std::vector<std::uint32_t>> from_;  // by module, exit's state: the entry's state
  std::uint32_t last_ = 0;                        // state after the last module
  bool tracing_ = false;
  std::vector<Trace> traces_;
  // Labels of one module: by class of a chain's last operator, by chain and exit, and joined.
  std::vector<PathLabels> at_, arrived_;
  std::vector<ByExit> by_chain_;
  PathLabels all_, other_, joined_;
};

}  // namespace hios::scheduler
