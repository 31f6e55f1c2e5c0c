#include "hios/evaluate/validate.h"

#include <algorithm>
#include <limits>
#include <map>

#include "hios/evaluate/blocks.h"
#include "hios/evaluate/cold/validate_weights.h"
#include "hios/evaluate/cost_model.h"
#include "hios/evaluate/deadlock.h"
#include "hios/schedule/assignment.h"
#include "hios/schedule/transfers.h"

// One pass over the schedule checks each stage and device by itself, and one over the edges checks
// the inside of stages; hios/evaluate/deadlock.cpp checks the waits between stages, and
// hios/evaluate/cold/ the weights. Linear in operators and edges, but for weights.

namespace hios {
namespace {

class Validator {
 public:
  Validator(const Graph& graph, const Platform& platform, const Schedule& schedule,
            Objective objective)
      : graph_(graph),
        platform_(platform),
        schedule_(schedule),
        objective_(objective),
        assignment_(graph.size(), schedule) {}

  std::vector<Finding> run() {
    if (schedule_.devices.size() != platform_.size()) {
      add(Rule::kDeviceCount, "the schedule has " + std::to_string(schedule_.devices.size()) +
                                  " devices, the platform " + std::to_string(platform_.size()));
      return std::move(findings_);  // nothing else can be checked on a missing device
    }
    for (std::size_t d = 0; d < platform_.size(); ++d) walk_device(DeviceId(d));
    check_complete();
    check_inside_stages();
    check_colocation();
    const bool transfers_reported = check_transfers();
    auto deadlocks = find_deadlocks(graph_, platform_, schedule_, assignment_);
    if (deadlocks.empty() && !transfers_reported && platform_.contention() != Contention::kNone) {
      deadlocks = find_transfer_deadlocks(graph_, platform_, schedule_, assignment_);
    }
    const bool ordered = deadlocks.empty();
    for (Finding& finding : deadlocks) findings_.push_back(std::move(finding));
    if (schedule_.weights) check_weights(ordered);
    if (objective_ == Objective::kThroughput) check_blocks();
    return std::move(findings_);
  }

 private:
  void add(Rule rule, std::string text, std::optional<OpId> op = {},
           std::optional<DeviceId> device = {}, std::optional<std::size_t> stage = {}) {
    findings_.push_back({rule, std::move(text), op, device, stage});
  }

  std::string describe(OpId op) const {
    return describe_operator(graph_, platform_, op, assignment_[op]);
  }

  void walk_device(DeviceId device) {
    held_bytes_ = 0;
    memory_reported_ = false;
    for (std::size_t s = 0; s < schedule_.stages(device).size(); ++s) walk_stage(device, s);
  }

  void walk_stage(DeviceId device, std::size_t s) {
    const Stage& stage = schedule_.stages(device)[s];
    const Device& runner = platform_.device(device);
    const std::string where = "stage " + std::to_string(s) + " of device " + runner.name;
    if (stage.groups.empty()) add(Rule::kEmptyStage, where + " has no groups", {}, device, s);
    if (runner.streams > 0 && stage.groups.size() > static_cast<std::size_t>(runner.streams)) {
      std::optional<OpId> first_too_many;
      const Group& group = stage.groups[static_cast<std::size_t>(runner.streams)];
      if (!group.empty()) first_too_many = group.front();
      add(Rule::kTooManyGroups,
          where + " has " + std::to_string(stage.groups.size()) + " groups" +
              (first_too_many ? ", one too many with " + graph_.op(*first_too_many).name : "") +
              "; the device has " + std::to_string(runner.streams) + " streams",
          first_too_many, device, s);
    }
    for (std::size_t g = 0; g < stage.groups.size(); ++g) {
      if (stage.groups[g].empty()) {
        add(Rule::kEmptyStage, where + " has an empty group " + std::to_string(g), {}, device, s);
      }
      for (std::size_t p = 0; p < stage.groups[g].size(); ++p) {
        check_operator(stage.groups[g][p], {device, s, g, p});
      }
    }
  }

  void check_operator(OpId op, const AssignedTo& assigned) {
    if (assignment_[op] != assigned) {
      add(Rule::kTwice,
          describe(op) + " runs again in stage " + std::to_string(assigned.stage) + " of device " +
              platform_.device(assigned.device).name,
          op, assigned.device, assigned.stage);
      return;
    }
    const Device& runner = platform_.device(assigned.device);
    if (!may_run(graph_.op(op), runner)) {
      add(Rule::kNotAllowed,
          describe(op) + " may not run there: " +
              (graph_.op(op).time_by_device.empty() || !is_allowed(op, runner)
                   ? "`allowed` does not name the device"
                   : "`time_ms` names neither the device nor its kind " + runner.kind),
          op, assigned.device, assigned.stage);
    }
    if (!schedule_.weights) hold(op, assigned);
  }

  bool is_allowed(OpId op, const Device& device) const {
    const auto& allowed = graph_.op(op).allowed;
    return allowed.empty() ||
           std::find(allowed.begin(), allowed.end(), device.name) != allowed.end();
  }

  /// Adds the operator's bytes to its device; reports once, at the first operator beyond the limit.
  void hold(OpId op, const AssignedTo& assigned) {
    const Bytes limit = platform_.device(assigned.device).memory_bytes;
    for (Bytes bytes : {graph_.op(op).memory_bytes, graph_.op(op).parameter_bytes}) {
      const Bytes room = std::numeric_limits<Bytes>::max() - held_bytes_;
      held_bytes_ += std::min(bytes, room);
    }
    if (limit == 0 || held_bytes_ <= limit || memory_reported_) return;
    memory_reported_ = true;
    add(Rule::kMemory,
        describe(op) + " is too much: outputs and parameters take " + std::to_string(held_bytes_) +
            " bytes with it, the device has " + std::to_string(limit),
        op, assigned.device, assigned.stage);
  }

  void check_complete() {
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      if (!assignment_.find(OpId(i))) {
        add(Rule::kMissing, graph_.op(OpId(i)).name + " runs nowhere in the schedule", OpId(i));
      }
    }
  }

  void check_inside_stages() {
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const OpId op(i);
      std::optional<OpId> reported;
      for (EdgeId e : graph_.in_edges(op)) {
        const OpId input = graph_.edge(e).from;
        if (reported == input) continue;  // equal edges are reported once
        reported = input;
        check_pair(input, op);
      }
    }
  }

  void check_pair(OpId input, OpId op) {
    const auto& from = assignment_.find(input);
    const auto& to = assignment_.find(op);
    if (!from || !to || from->device != to->device || from->stage != to->stage) return;
    if (from->group != to->group) {
      add(Rule::kDependentGroups,
          describe(op) + " needs " + describe(input) + ": groups of a stage must be independent",
          op, to->device, to->stage);
    } else if (from->position >= to->position) {
      add(Rule::kOrderInGroup,
          describe(op) + " comes before its input " + graph_.op(input).name + " in their group", op,
          to->device, to->stage);
    }
  }

  void check_blocks() {
    const std::vector<DeviceId> cycle = cycle_of_blocks(graph_, schedule_);
    if (cycle.empty()) return;
    std::string text = "blocks form a cycle: " + platform_.device(cycle.front()).name;
    for (std::size_t i = 1; i <= cycle.size(); ++i) {
      text += " reads from " + platform_.device(cycle[i % cycle.size()]).name;
      if (i < cycle.size()) text += ", which";
    }
    add(Rule::kBlockCycle, text + "; a schedule for throughput has none", {}, cycle.front());
  }

  void check_weights(bool ordered) {
    auto found = validate_weights(graph_, platform_, schedule_, assignment_, ordered);
    for (Finding& finding : found) findings_.push_back(std::move(finding));
  }

  void check_colocation() {
    std::map<std::string_view, OpId> first;
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const std::string& label = graph_.op(OpId(i)).colocate;
      if (label.empty() || !assignment_.find(OpId(i))) continue;
      const OpId other = first.emplace(label, OpId(i)).first->second;
      const AssignedTo& assigned = assignment_[OpId(i)];
      if (assignment_[other].device == assigned.device) continue;
      add(Rule::kColocate,
          describe(OpId(i)) + " must share a device with " + describe(other) +
              ": both are labelled " + label,
          OpId(i), assigned.device, assigned.stage);
    }
  }

  /// Checks the list of transfers by itself; returns true if there is a finding.
  bool check_transfers() {
    if (schedule_.transfers.empty()) return false;
    const std::size_t before = findings_.size();
    const std::vector<PlannedTransfer> needed = transfers_of(graph_, assignment_);
    std::vector<std::optional<std::size_t>> listed(needed.size());
    for (std::size_t i = 0; i < schedule_.transfers.size(); ++i) {
      const PlannedTransfer& transfer = schedule_.transfers[i];
      const auto found = std::lower_bound(needed.begin(), needed.end(), transfer);
      const std::string what = describe(transfer);
      if (found == needed.end() || *found != transfer) {
        add_transfer(Rule::kTransferUnneeded, what + " is not needed: " + why_unneeded(transfer),
                     transfer, i);
        continue;
      }
      auto& first = listed[static_cast<std::size_t>(found - needed.begin())];
      if (first) {
        add_transfer(Rule::kTransferTwice,
                     what + " is listed already, at index " + std::to_string(*first), transfer, i);
      }
      first = first.value_or(i);
    }
    for (std::size_t t = 0; t < needed.size(); ++t) {
      if (listed[t]) continue;
      add_transfer(Rule::kTransferMissing,
                   describe(needed[t]) + " is not listed: list all transfers or none", needed[t],
                   {});
    }
    return findings_.size() > before;
  }

  void add_transfer(Rule rule, std::string text, const PlannedTransfer& transfer,
                    std::optional<std::size_t> index) {
    findings_.push_back({rule, std::move(text), transfer.producer, transfer.to, {}, index});
  }

  std::string describe(const PlannedTransfer& transfer) const {
    return describe_transfer(graph_, platform_, transfer);
  }

  std::string why_unneeded(const PlannedTransfer& transfer) const {
    const std::string& name = graph_.op(transfer.producer).name;
    const auto& assigned = assignment_.find(transfer.producer);
    if (!assigned) return name + " runs nowhere";
    if (assigned->device == transfer.to) return name + " runs there itself";
    return "no operator there reads " + name;
  }

  const Graph& graph_;
  const Platform& platform_;
  const Schedule& schedule_;
  Objective objective_;
  const Assignment assignment_;
  Bytes held_bytes_ = 0;  // by the current device
  bool memory_reported_ = false;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> validate(const Graph& graph, const Platform& platform,
                              const Schedule& schedule, Objective objective) {
  return Validator(graph, platform, schedule, objective).run();
}

std::string finding_line(const std::string& file, const Finding& finding) {
  if (finding.transfer) {
    return file + ": $.transfers[" + std::to_string(*finding.transfer) + "]: " + finding.text;
  }
  if (!finding.weights.empty())
    return file + ": $.weights." + finding.weights + ": " + finding.text;
  if (finding.rule == Rule::kTransferMissing) return file + ": $.transfers: " + finding.text;
  std::string where = "$.devices";
  if (finding.device) where += "[" + std::to_string(finding.device->index()) + "]";
  if (finding.device && finding.stage) where += ".stages[" + std::to_string(*finding.stage) + "]";
  return file + ": " + where + ": " + finding.text;
}

}  // namespace hios
