// Part of tests/fuzz/checks.h: schedules of tests/corpus/graph_ok.json.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fuzz/reading.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "hios/graph/graph_json.h"
#include "hios/schedule/schedule.h"
#include "hios/schedule/schedule_json.h"
#include "support/corpus.h"
#include "support/oracles/slow_simulator.h"

namespace hios::test {
namespace {

const Graph& the_graph() {
  static const Graph graph = [] {
    const Json json = read_json(corpus() / "graph_ok.json");
    return graph_from_json(JsonView(json, "graph_ok.json"));
  }();
  return graph;
}

ScheduleFile read_file(const JsonView& root) { return schedule_from_json(root, the_graph()); }
Json file_json(const ScheduleFile& file) { return to_json(file, the_graph()); }

bool has(const std::vector<Finding>& findings, std::initializer_list<Rule> rules) {
  return std::ranges::any_of(findings, [&](const Finding& finding) {
    return std::ranges::find(rules, finding.rule) != rules.end();
  });
}

/// Checks the findings on deadlocks against a second simulator, where that can run the schedule.
void promise_same_verdict(const ScheduleFile& file, const std::vector<Finding>& findings) {
  if (has(findings, {Rule::kDeviceCount, Rule::kMissing, Rule::kTwice, Rule::kEmptyStage})) return;
  const bool deadlocks = has(findings, {Rule::kCycle, Rule::kDependentGroups, Rule::kOrderInGroup});
  promise(deadlocks != runs_to_its_end(the_graph(), file.schedule),
          deadlocks ? "refused, though it would run" : "accepted, though it deadlocks");
}

/// Counts the operators of an accepted schedule: each must be there once.
void promise_each_once(const ScheduleFile& file) {
  std::vector<int> count(the_graph().size());
  for (const auto& stages : file.schedule.devices) {
    for (const Stage& stage : stages) {
      for (const Group& group : stage.groups) {
        for (const OpId op : group) ++count[op.index()];
      }
    }
  }
  promise(std::ranges::all_of(count, [](int times) { return times == 1; }),
          "accepted, though not every operator runs once");
}

}  // namespace

int check_schedule(std::string_view bytes) {
  const auto file = read_or_refuse(bytes, read_file);
  if (!file) return 0;
  promise_same_when_reread(*file, read_file, file_json);
  const auto platform = read_or_refuse(
      bytes, [](const JsonView& root) { return Platform(schedule_head(root).devices); });
  if (!platform) return 0;
  const auto findings = validate(the_graph(), *platform, file->schedule);
  for (const Finding& finding : findings) promise_a_line(finding_line("fuzz.json", finding));
  promise_same_verdict(*file, findings);
  if (!findings.empty()) return 0;
  promise_each_once(*file);
  const CostModel costs = CostModel::from_graph(the_graph(), *platform);
  const double latency = simulate(the_graph(), file->schedule, costs).latency_ms;
  promise_a_time(latency, "the schedule");
  const auto slow = slow_latency_ms(the_graph(), file->schedule, plain_costs_of(costs));
  promise(slow && std::abs(*slow - latency) <= 1e-9 * latency, "another latency");
  return 0;
}

}  // namespace hios::test
