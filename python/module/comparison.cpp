#include "python/module/comparison.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/json/json_io.h"
#include "hios/schedule/schedule_json.h"
#include "python/module/own_algorithm.h"
#include "python/module/problem.h"
#include "python/module/stop_request.h"
#include "scheduler/compare/compare.h"
#include "scheduler/registry.h"

namespace hios::python {
namespace {

namespace nb = nanobind;
using namespace nb::literals;

/// A row, and the problem that it points into.
struct PlannedRow {
  std::shared_ptr<SharedProblem> problem;
  scheduler::Row row;
  std::uint64_t seed = 0;
};

/// An algorithm to run: its name, its options as "key=value", and the function of one that is
/// Python's (None: built in).
using RequestTuple = std::tuple<std::string, std::vector<std::string>, nb::object>;

/// The algorithms of a comparison, and the reasons of those that refused.
class Requests {
 public:
  Requests(const std::vector<RequestTuple>& tuples, const SharedProblem& problem) {
    algorithms_.reserve(tuples.size());  // requests point into it
    for (const auto& [name, options, function] : tuples) {
      algorithms_.push_back(function.is_none() ? scheduler::built_in().find(name)
                                               : own_algorithm(name, function, problem));
      scheduler::Algorithm& algorithm = algorithms_.back();
      algorithm.run = [this, run = std::move(algorithm.run), index = algorithms_.size() - 1](
                          const auto& asked_for, const Options& values, const auto& context) {
        try {
          return run(asked_for, values, context);
        } catch (const InputError& error) {
          refusals_.insert_or_assign(index, error);
          throw;
        }
      };
      scheduler::Request request{&algorithm, Options(algorithm.options)};
      for (const std::string& option : options) request.options.set(option);
      requests_.push_back(std::move(request));
    }
  }

  /// Returns a row for each algorithm, also where all refuse; after a stop request, for those that
  /// it let begin.
  std::vector<scheduler::Row> rows(const SharedProblem& problem,
                                   const scheduler::Deadline& deadline, std::uint64_t seed) {
    try {
      return scheduler::compare(scheduler::Problem(problem.costs), requests_, deadline,
                                {.seed = seed});
    } catch (const InputError&) {
      if (refusals_.size() != requests_.size()) throw;
    }
    std::vector<scheduler::Row> all;
    for (const auto& [index, refusal] : refusals_) {
      all.push_back({.algorithm = algorithms_[index].name, .refusal = refusal});
    }
    return all;
  }

 private:
  std::vector<scheduler::Algorithm> algorithms_;
  std::vector<scheduler::Request> requests_;
  std::map<std::size_t, InputError> refusals_;
};

std::vector<PlannedRow> compare(const std::shared_ptr<SharedProblem>& problem,
                                const std::vector<RequestTuple>& tuples, double seconds,
                                std::uint64_t seed, const StopRequest& stop) {
  Requests requests(tuples, *problem);
  std::vector<scheduler::Row> rows;
  {
    const nb::gil_scoped_release free;
    rows = requests.rows(*problem, stop.deadline(seconds), seed);
  }
  std::vector<PlannedRow> all;
  for (scheduler::Row& row : rows) all.push_back({problem, std::move(row), seed});
  return all;
}

/// Returns the file of the row's schedule, as the programs read it.
ScheduleFile file_of(const PlannedRow& planned) {
  const scheduler::Row& row = planned.row;
  ScheduleFile file;
  file.graph_name = row.graph->name();
  file.graph_digest = row.graph->digest();
  file.algorithm = row.algorithm;
  file.options = row.options.non_defaults();
  file.outcome = row.outcome;
  file.seconds = row.seconds;
  const auto devices = planned.problem->platform->devices();
  file.devices.assign(devices.begin(), devices.end());
  file.schedule = row.schedule;
  file.predicted = row.predicted;
  file.extra["seed"] = planned.seed;
  return file;
}

/// Returns a property of the row's prediction.
template <class Value>
auto predicted(Value Prediction::*member) {
  return [member](const PlannedRow& planned) { return planned.row.predicted.*member; };
}

/// Returns a property of the row.
template <class Value>
auto of_row(Value scheduler::Row::*member) {
  return [member](const PlannedRow& planned) { return planned.row.*member; };
}

/// The names, descriptions and options (each with its help) of the schedulers for latency.
using AlgorithmTuple = std::tuple<std::string, std::string, std::string>;

std::vector<AlgorithmTuple> algorithms() {
  std::vector<AlgorithmTuple> all;
  for (const scheduler::Algorithm& each : scheduler::built_in().all()) {
    if (each.objective != Objective::kLatency) continue;
    all.emplace_back(each.name, each.description, Options(each.options).help());
  }
  return all;
}

}  // namespace

void bind_comparison(nb::module_& module) {
  nb::class_<PlannedRow>(module, "Row")
      .def_prop_ro("algorithm", of_row(&scheduler::Row::algorithm))
      .def_prop_ro("refusal",
                   [](const PlannedRow& planned) {
                     const auto& refusal = planned.row.refusal;
                     return refusal ? std::optional<std::string>(refusal->what()) : std::nullopt;
                   })
      .def_prop_ro("latency_ms", predicted(&Prediction::latency_ms))
      .def_prop_ro("lower_bound_ms", predicted(&Prediction::lower_bound_ms))
      .def_prop_ro("bound", predicted(&Prediction::bound))
      .def_prop_ro("gap", [](const PlannedRow& planned) { return planned.row.predicted.gap(); })
      .def_prop_ro(
          "outcome",
          [](const PlannedRow& planned) { return std::string(to_string(planned.row.outcome)); })
      .def_prop_ro("seconds", of_row(&scheduler::Row::seconds))
      .def_prop_ro("devices_used", of_row(&scheduler::Row::devices_used))
      .def_prop_ro("sent_bytes", of_row(&scheduler::Row::sent_bytes))
      .def_prop_ro("waiting_share", of_row(&scheduler::Row::waiting_share))
      .def_prop_ro(
          "options",
          [](const PlannedRow& planned) { return planned.row.options.non_defaults().dump(); })
      .def_prop_ro("plan", of_row(&scheduler::Row::schedule))
      .def(
          "write",
          [](const PlannedRow& planned, const std::string& file, bool replace) {
            write_json(file, to_json(file_of(planned), *planned.row.graph),
                       replace ? Existing::kReplace : Existing::kRefuse);
          },
          "file"_a, "replace"_a);
  module.def("compare", &compare, "problem"_a, "requests"_a, "seconds"_a, "seed"_a, "stop"_a);
  module.def("algorithms", &algorithms);
}

}  // namespace hios::python
