#include "python/module/plans.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <string>
#include <tuple>
#include <utility>

#include "hios/base/error.h"
#include "hios/evaluate/timeline.h"
#include "hios/evaluate/validate.h"

namespace hios::python {
namespace {

namespace nb = nanobind;

Stages stages_of(const Schedule& schedule) {
  Stages all;
  for (const std::vector<Stage>& device : schedule.devices) {
    auto& stages = all.emplace_back();
    for (const Stage& stage : device) {
      auto& groups = stages.emplace_back();
      for (const Group& group : stage.groups) {
        auto& operators = groups.emplace_back();
        for (const OpId op : group) operators.push_back(static_cast<std::uint32_t>(op.index()));
      }
    }
  }
  return all;
}

/// Times of a stage: awaited, ready, start, end.
using StageTuple = std::tuple<double, double, double, double>;
/// A transfer: producer, device from, device to, start, end, bytes.
using TransferTuple = std::tuple<std::size_t, std::size_t, std::size_t, double, double, Bytes>;

std::vector<std::vector<StageTuple>> stage_times(const Timeline& timeline) {
  std::vector<std::vector<StageTuple>> all;
  for (const auto& device : timeline.stages) {
    auto& times = all.emplace_back();
    for (const StageTimes& each : device) {
      times.emplace_back(each.awaited_ms, each.ready_ms, each.start_ms, each.end_ms);
    }
  }
  return all;
}

std::vector<TransferTuple> transfer_times(const Timeline& timeline) {
  std::vector<TransferTuple> all;
  for (const TransferTimes& each : timeline.transfers) {
    all.emplace_back(each.producer.index(), each.from.index(), each.to.index(), each.start_ms,
                     each.end_ms, each.size_bytes);
  }
  return all;
}

}  // namespace

Schedule schedule_of(const Stages& stages, const Graph& graph) {
  Schedule schedule;
  for (const auto& device : stages) {
    auto& of_device = schedule.devices.emplace_back();
    for (const auto& groups : device) {
      Stage& stage = of_device.emplace_back();
      for (const auto& operators : groups) {
        Group& group = stage.groups.emplace_back();
        for (const std::uint32_t op : operators) {
          if (op >= graph.size()) {
            throw InputError("operator " + std::to_string(op) + " is not among the graph's " +
                             std::to_string(graph.size()) + ": count from 0");
          }
          group.emplace_back(op);
        }
      }
    }
  }
  return schedule;
}

void require_valid(const Schedule& schedule, const SharedProblem& problem) {
  const std::vector<Finding> findings = validate(*problem.graph, *problem.platform, schedule);
  if (findings.empty()) return;
  std::string text = "the schedule breaks a rule: " + findings.front().text;
  if (findings.size() > 1) {
    text += " (and " + std::to_string(findings.size() - 1) + " more, which validate() lists)";
  }
  throw InputError(text);
}

void bind_plans(nb::module_& module) {
  nb::class_<Schedule>(module, "Plan").def("stages", &stages_of);
  nb::class_<Timeline>(module, "Timeline")
      .def_ro("latency_ms", &Timeline::latency_ms)
      .def("stages", &stage_times)
      .def("transfers", &transfer_times);
}

}  // namespace hios::python
