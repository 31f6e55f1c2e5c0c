#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <boost/program_options.hpp>

#include "cli/flags/flags.h"
#include "cli/flags/model_flags.h"
#include "cli/schedule/memory_need.h"
#include "hios/evaluate/cost_model.h"
#include "hios/evaluate/measured_devices.h"
#include "hios/graph/batches.h"
#include "hios/graph/graph.h"
#include "hios/graph/random/random_dag.h"
#include "hios/platform/platform.h"
#include "hios/profile/profile.h"
#include "hios/schedule/schedule.h"

namespace hios::cli {

/// Throws InputError unless exactly one flag names the graph.
void require_one_source(const Flags& flags);

/// What hios-schedule plans for: a graph, a platform and its costs, from whatever flags named them.
/// Not movable: the costs refer to the rest.
class ScheduleInputs {
 public:
  /// REQUIRES: require_one_source(). `work`: what will be done with it; an InputError refuses what
  /// memory does not hold, before the graph is made where its size is known by then. `devices`:
  /// those of a schedule that is to be checked, unless --platform names others.
  ScheduleInputs(const Flags& flags, const Common& common, const Work& work,
                 const std::optional<Platform>& devices = {});
  ScheduleInputs(const ScheduleInputs&) = delete;
  ScheduleInputs& operator=(const ScheduleInputs&) = delete;

  const Graph& graph() const { return network_ ? network_->coarse.graph : graph_; }
  /// The same as its file has it, with the costs of every number of inputs at a time.
  const Graph& own_graph() const { return own_graph_ ? *own_graph_ : graph(); }
  const Platform& platform() const { return platform_; }
  /// The --model; null where a graph was named.
  const Network* network() const { return network_ ? &*network_ : nullptr; }
  /// Throws InputError where costs are missing.
  const CostModel& costs();
  /// The same of a graph that divides the inputs, which outlives them.
  CostModel price(const Graph& graph) const;
  /// The numbers of inputs that operators may run at a time; null where that is all of them.
  const SizedGraphs* sized() const { return sized_ ? &*sized_ : nullptr; }
  /// The graph that the batches of a schedule are, whatever their sizes; `root`: its file. Empty:
  /// it divides no inputs, and is for graph().
  std::shared_ptr<const Graph> divided_as(const JsonView& root) const;
  /// The number of ranks that the --profile was measured with, where they stand in for another
  /// number of devices (--extrapolate-ranks).
  std::optional<std::size_t> extrapolated_from() const { return extrapolated_from_; }
  /// A schedule file's head, ready to be filled with a schedule.
  ScheduleFile blank_file() const;

 private:
  void make_random(const RandomDag& parameters, const Work& work);
  void read_graph(const Flags& flags, const Common& common, const Work& work);
  void read_profile(const Flags& flags, const ReadLimits& limits);
  void take_measured(const Flags& flags);
  CostModel priced_by_profile(const Graph& graph) const;
  void read_inputs(const Flags& flags);
  SizedGraphs sized_for(const BatchSizes& sizes) const;

  std::optional<Network> network_;
  std::function<Network(std::optional<std::int64_t>)> make_network_;  ///< where there is a --model
  std::optional<Graph> own_graph_;  ///< as its file says, with costs of all sizes
  std::optional<SizedGraphs> sized_;
  /// For the commands that remedies name, by the graph that they are for.
  std::function<std::string(const Graph&)> model_words_;
  Graph graph_;
  Platform platform_;
  std::vector<SetByPlatform> said_;  ///< by device of a --platform; else empty
  std::optional<Profile> profile_;
  std::optional<std::size_t> extrapolated_from_;
  std::optional<CostModel> costs_;
};

/// --inputs and --parts are in cli/flags/model_flags.h.
/// --graph --random --profile --extrapolate-ranks and --devices --kind --threads --streams --math
/// --platform.
boost::program_options::options_description input_flags();

}  // namespace hios::cli
