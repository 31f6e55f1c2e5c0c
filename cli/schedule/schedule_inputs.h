#pragma once

#include <memory>
#include <optional>

#include <boost/program_options.hpp>

#include "cli/flags.h"
#include "cli/network.h"
#include "cli/schedule/memory_need.h"
#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "hios/profile/profile.h"
#include "hios/schedule/schedule.h"

namespace hios::cli {

/// Throws InputError unless exactly one flag names the graph.
void require_one_source(const Flags& flags);

/// What hios-schedule plans for: a graph, a platform and its costs, from whatever flags named them.
/// Not movable: the costs refer to the rest.
class Problem {
 public:
  /// REQUIRES: require_one_source(). `work`: what will be done with it; an InputError refuses what
  /// memory does not hold, before the graph is made where its size is known by then. `devices`:
  /// those of a schedule that is to be checked, unless --platform names others.
  Problem(const Flags& flags, const Common& common, const Work& work,
          const std::optional<Platform>& devices = {});
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  const Graph& graph() const { return network_ ? network_->coarse.graph : graph_; }
  const Platform& platform() const { return platform_; }
  /// The --model; null where a graph was named.
  const Network* network() const { return network_ ? &*network_ : nullptr; }
  /// Throws InputError where costs are missing.
  const CostModel& costs();
  /// A schedule file's head, ready to be filled with a schedule.
  ScheduleFile blank_file() const;

 private:
  std::optional<Network> network_;
  Graph graph_;
  Platform platform_;
  std::optional<Profile> profile_;
  std::optional<CostModel> costs_;
};

/// --graph --random --profile and --devices --kind --threads --streams --platform.
boost::program_options::options_description problem_flags();

}  // namespace hios::cli
