#include "python/module/problem.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/json/json_io.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "hios/report/draw_timeline.h"
#include "hios/schedule/schedule_json.h"
#include "python/module/plans.h"
#include "python/module/stop_request.h"
#include "scheduler/bounds/bounds.h"

namespace hios::python {
namespace {

namespace nb = nanobind;
using namespace nb::literals;

constexpr std::size_t kMostCosts = std::size_t{1} << 28;  ///< of operators on devices: 2 GB

/// Throws InputError where the costs of a problem would fill the memory.
const Platform& checked(const Graph& graph, const Platform& platform) {
  if (graph.size() > 0 && platform.size() > kMostCosts / graph.size()) {
    throw InputError(std::to_string(graph.size()) + " operators on " +
                     std::to_string(platform.size()) +
                     " devices have more costs than fit into memory: take fewer devices");
  }
  return platform;
}

/// A finding: text, operator, device and stage.
using FindingTuple = std::tuple<std::string, std::optional<std::size_t>, std::optional<std::size_t>,
                                std::optional<std::size_t>>;

/// Returns the index of an id, where there is one.
template <class Id>
std::optional<std::size_t> index_of(const std::optional<Id>& id) {
  return id ? std::optional(id->index()) : std::nullopt;
}

/// Throws InputError where a schedule of another graph names operators that this one does not have.
const Schedule& known(const SharedProblem& problem, const Schedule& schedule) {
  for (const auto& stages : schedule.devices) {
    for (const Stage& stage : stages) {
      for (const Group& group : stage.groups) {
        for (const OpId op : group) {
          if (op.index() >= problem.graph->size())
            throw InputError("the schedule is of another graph");
        }
      }
    }
  }
  return schedule;
}

std::vector<FindingTuple> findings_of(const SharedProblem& problem, const Schedule& schedule) {
  std::vector<FindingTuple> all;
  for (const Finding& each :
       validate(*problem.graph, *problem.platform, known(problem, schedule))) {
    all.emplace_back(each.text, index_of(each.op), index_of(each.device), each.stage);
  }
  return all;
}

Timeline timeline_of(const SharedProblem& problem, const Schedule& schedule) {
  require_valid(known(problem, schedule), problem);
  return simulate(*problem.graph, schedule, problem.costs);
}

std::vector<std::pair<std::string, double>> bounds_of(const SharedProblem& problem,
                                                      const StopRequest& stop) {
  std::vector<std::pair<std::string, double>> all;
  for (const scheduler::LowerBound& bound :
       scheduler::all_bounds(*problem.graph, problem.costs, stop.deadline())) {
    all.emplace_back(bound.name, bound.ms);
  }
  return all;
}

/// Reads a schedule of the problem's graph, for as many devices as the problem has. Returns the
/// name of its algorithm, too.
std::pair<Schedule, std::string> read_schedule(const SharedProblem& problem,
                                               const std::string& file) {
  const Json json = read_json(file);
  ScheduleFile read = schedule_from_json(JsonView(json, file), *problem.graph);
  if (read.devices.size() != problem.platform->size()) {
    throw InputError(file + ": $.devices: the schedule has " + std::to_string(read.devices.size()) +
                     " devices, and " + std::to_string(problem.platform->size()) +
                     " are given; give as many");
  }
  if (read.schedule.weights || read.objective != Objective::kLatency) {
    throw InputError(file + ": $.objective: the schedule is for " +
                     std::string(to_string(read.objective)) +
                     "; this library reads those for latency");
  }
  return {std::move(read.schedule), std::move(read.algorithm)};
}

std::shared_ptr<Platform> platform_of_schedule(const std::string& file) {
  const Json json = read_json(file);
  return std::make_shared<Platform>(schedule_head(JsonView(json, file)).devices);
}

}  // namespace

SharedProblem::SharedProblem(std::shared_ptr<Graph> the_graph,
                             std::shared_ptr<Platform> the_platform)
    : graph(std::move(the_graph)),
      platform(std::move(the_platform)),
      costs(CostModel::from_graph(*graph, checked(*graph, *platform))) {}

void bind_problem(nb::module_& module) {
  using Release = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<SharedProblem>(module, "Problem")
      .def(nb::init<std::shared_ptr<Graph>, std::shared_ptr<Platform>>(), "graph"_a, "platform"_a)
      .def(
          "plan",
          [](const SharedProblem& problem, const Stages& stages) {
            return schedule_of(stages, *problem.graph);
          },
          "stages"_a)
      .def("validate", &findings_of, "plan"_a, Release())
      .def("simulate", &timeline_of, "plan"_a, Release())
      // Times by device, then by operator; infinite where the device cannot run it.
      .def("operator_ms",
           [](const SharedProblem& problem) {
             std::vector<std::vector<double>> all(problem.platform->size());
             for (std::size_t d = 0; d < all.size(); ++d) {
               for (std::size_t i = 0; i < problem.graph->size(); ++i) {
                 all[d].push_back(problem.costs.operator_ms(OpId(i), DeviceId(d)));
               }
             }
             return all;
           })
      .def(
          "transfer_ms",
          [](const SharedProblem& problem, std::size_t edge, std::size_t from, std::size_t to) {
            const std::size_t devices = problem.platform->size();
            if (edge >= problem.graph->edge_count() || from >= devices || to >= devices) {
              throw InputError("no such edge or device: count from 0");
            }
            return problem.costs.transfer_ms(EdgeId(edge), DeviceId(from), DeviceId(to));
          },
          "edge"_a, "from_"_a, "to"_a)
      .def("bounds", &bounds_of, "stop"_a, Release())
      .def("read_plan", &read_schedule, "file"_a)
      .def(
          "write_trace",
          [](const SharedProblem& problem, const Schedule& schedule, const std::string& file,
             bool replace) {
            require_valid(known(problem, schedule), problem);
            write_json(file, planned_trace(*problem.graph, schedule, problem.costs).json(),
                       replace ? Existing::kReplace : Existing::kRefuse);
          },
          "plan"_a, "file"_a, "replace"_a);
  module.def("platform_of_schedule", &platform_of_schedule, "file"_a);
}

}  // namespace hios::python
