#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/program_options.hpp>

#include "cli/flags/flags.h"
#include "cli/flags/model_flags.h"
#include "cli/schedule/inputs/memory_need.h"
#include "hios/evaluate/cost_model.h"
#include "hios/evaluate/measured_devices.h"
#include "hios/graph/batches.h"
#include "hios/graph/graph.h"
#include "hios/graph/random/random_dag.h"
#include "hios/platform/platform.h"
#include "hios/profile/profile.h"
#include "hios/schedule/schedule.h"
#include "scheduler/problem.h"

namespace hios::cli {

/// Throws InputError unless exactly one flag names the graph.
void require_one_source(const Flags& flags);

/// The problem of hios-schedule: a graph, a platform and its costs, from the flags that name them.
/// Not movable, since the costs refer to the other members.
class ScheduleInputs {
 public:
  /// Throws InputError where memory does not hold the problem and its `work`, before the graph is
  /// made if its size is known by then. `devices`: those of a schedule that is to be checked,
  /// unless --platform names others. REQUIRES: require_one_source().
  ScheduleInputs(const Flags& flags, const Common& common, const Work& work,
                 const std::optional<Platform>& devices = {});
  ScheduleInputs(const ScheduleInputs&) = delete;
  ScheduleInputs& operator=(const ScheduleInputs&) = delete;

  const Graph& graph() const { return network_ ? network_->coarse.graph : graph_; }
  /// Returns the graph of its file, with the costs of every number of inputs at a time.
  const Graph& own_graph() const { return own_graph_ ? *own_graph_ : graph(); }
  const Platform& platform() const { return platform_; }
  /// Returns the network of --model; null where a graph was named.
  const Network* network() const { return network_ ? &*network_ : nullptr; }
  /// Returns the costs of graph(). Throws InputError where costs are missing.
  const CostModel& costs();
  /// Returns the costs of a graph that divides the inputs, and that outlives them.
  CostModel costs_of(const Graph& graph) const { return costs_of(graph, travel_); }
  /// Returns the same for a schedule of this objective.
  CostModel costs_of(const Graph& graph, Objective objective) const;
  /// Returns the problem, a view of these inputs. Throws InputError where costs are missing, unless
  /// the inputs are divided: then divisions may lack some.
  scheduler::Problem problem(Objective objective);
  /// Returns the number of inputs of an inference.
  std::int64_t inputs() const;
  /// Returns the numbers of inputs that operators may run at a time; null: all inputs only.
  const SizedGraphs* sized() const { return sized_ ? &*sized_ : nullptr; }
  /// Returns the graph of a schedule's batches, of any size; `root`: the schedule's file. Null: the
  /// schedule divides no inputs, and is for graph().
  std::shared_ptr<const Graph> divided_as(const JsonView& root) const;
  /// Returns the costs of --profile; null where there is none.
  const Profile* profile() const { return profile_ ? &*profile_ : nullptr; }
  /// Returns the number of ranks in the --profile whose measurements serve for another number of
  /// devices (--extrapolate-ranks).
  std::optional<std::size_t> extrapolated_from() const { return extrapolated_from_; }
  /// Returns a schedule file without a schedule: graph, input sizes and devices.
  ScheduleFile blank_file() const;
  /// Returns true if a search chooses the cuts.
  bool chooses_cuts() const { return make_cut_ != nullptr; }

 private:
  void make_random(const RandomDag& parameters, const Work& work);
  void read_graph(const Flags& flags, const Common& common, const Work& work);
  void read_profile(const Flags& flags, const ReadLimits& limits);
  // measured_inputs.cpp
  void take_measured(const Flags& flags);
  void take_measured_store(const Flags& flags);
  CostModel costs_of(const Graph& graph, Travel travel) const;
  CostModel costs_by_profile(const Graph& graph, Travel travel) const;
  /// Throws InputError with the command that measures the times into the file.
  [[noreturn]] void fail_without_times(const std::string& text, const std::string& file) const;
  void read_inputs(const Flags& flags);
  // cut_inputs.cpp
  /// Keeps a function that makes networks with cuts, where --cut auto chooses them.
  void read_cuts(const Flags& flags, const Common& common);
  scheduler::Problem cuttable_problem();
  Cuts certified_cuts() const;
  /// Throws InputError where the profile found that some shard has other bits than the whole.
  void require_certified_cuts() const;
  SizedGraphs sized_for(const BatchSizes& sizes) const;

  std::optional<Network> network_;
  std::function<Network(std::optional<std::int64_t>)> make_network_;  ///< where there is a --model
  std::optional<Graph> own_graph_;  ///< the graph of its file, with costs of all sizes
  std::optional<SizedGraphs> sized_;
  scheduler::DivisibleProblem divisible_;         ///< a view of sized_
  std::function<Network(const Cuts&)> make_cut_;  ///< empty: cuts are not chosen
  std::vector<std::int64_t> cut_shares_;          ///< of the rows, by shard, where they are chosen
  scheduler::CuttableProblem cuttable_;           ///< a view of network_ and costs_
  /// Returns model_words() of a graph, for the commands of remedies.
  std::function<std::string(const Graph&)> model_words_;
  std::string own_profile_;  ///< the name of a profile for commands where none is given
  Graph graph_;
  Platform platform_;
  std::vector<SetByPlatform> set_by_platform_;  ///< by device of a --platform; else empty
  std::optional<Profile> profile_;
  std::optional<std::size_t> extrapolated_from_;
  Travel travel_ = Travel::kCopied;
  std::optional<CostModel> costs_;
};

/// Declares --graph --random --profile --store --extrapolate-ranks --devices --kind --threads
/// --streams
/// --math --platform. (--inputs and --parts: cli/flags/model_flags.h.)
boost::program_options::options_description input_flags();

}  // namespace hios::cli
