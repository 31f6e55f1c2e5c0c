#include "hios/evaluate/cold/validate_weights.h"

#include <algorithm>
#include <map>
#include <optional>

#include "hios/base/error.h"
#include "hios/base/json/json_path.h"
#include "hios/evaluate/cold/holdings.h"
#include "hios/evaluate/cold/weight_room.h"
#include "hios/evaluate/cold/weight_waits.h"
#include "hios/evaluate/deadlock.h"

// Each entry is checked by itself, then each operator, then each eviction against all uses of the
// parameters that it frees. Uses on the device are in the order of its stages. A load from the
// device is a use as well: it must end before the eviction takes effect, so the stage after which
// that happens must wait for it (first_stages() of the waits). Cycles and room come last
// (weight_waits.cpp, weight_room.cpp).

namespace hios {
namespace {

class WeightsValidator {
 public:
  WeightsValidator(const Graph& graph, const Platform& platform, const Schedule& schedule,
                   const Assignment& assignment)
      : graph_(graph),
        platform_(platform),
        topology_(*platform.topology()),
        schedule_(schedule),
        weights_(*schedule.weights),
        assignment_(assignment),
        sets_(graph),
        holdings_(sets_, schedule, assignment) {}

  std::vector<Finding> run(bool ordered) {
    for (std::size_t i = 0; i < weights_.resident.size(); ++i) check_resident(i);
    for (std::size_t l = 0; l < holdings_.loads().size(); ++l) check_load(l);
    for (std::size_t i = 0; i < weights_.in_place.size(); ++i) check_in_place(i);
    check_operators();
    for (std::size_t i = 0; i < weights_.evictions.size(); ++i) check_eviction(i);
    if (ordered) check_order();
    return std::move(findings_);
  }

 private:
  void add(Rule rule, std::string path, std::string text, OpId op,
           std::optional<DeviceId> device = {}) {
    Finding finding{rule, std::move(text), op, device, {}};
    finding.weights = std::move(path);
    findings_.push_back(std::move(finding));
  }

  const std::string& name(OpId op) const { return graph_.op(op).name; }
  std::string name(const Holder& holder) const { return name_of_holder(platform_, holder); }
  std::string describe(std::size_t load) const {
    return describe_load(graph_, platform_, holdings_.loads()[load]);
  }
  std::string describe(OpId op) const {
    return describe_operator(graph_, platform_, op, assignment_[op]);
  }
  std::string path_of(std::size_t load) const {
    return path_of_load(holdings_.loads()[load].lane, holdings_.loads()[load].index);
  }

  /// Checks that an entry's operator has parameters and its device is one of the platform's.
  bool check_entry(const std::string& path, const std::string& what, OpId op, DeviceId device) {
    if (device.index() >= platform_.size()) {
      add(Rule::kDeviceCount, path,
          what + " names device " + std::to_string(device.index()) + ", and the platform has " +
              std::to_string(platform_.size()),
          op);
      return false;
    }
    if (sets_.of(op)) return true;
    add(Rule::kWeightsUnneeded, path, what + ": " + name(op) + " has no parameters; leave it out",
        op, device);
    return false;
  }

  void check_resident(std::size_t i) {
    const Resident& resident = weights_.resident[i];
    check_entry(json_path::element("resident", i),
                "the resident parameters of " + name(resident.of) + " on " + name(resident.on),
                resident.of, resident.on);
  }

  void check_load(std::size_t l) {
    const Load& load = *holdings_.loads()[l].load;
    const std::string what = describe(l);
    if (!check_entry(path_of(l), what, load.of, load.to)) return;
    const Holding& there = *holdings_.find(load.to, load.of);
    if (there.resident) {
      add(Rule::kWeightsTwice, path_of(l),
          what + ": they are resident there from the beginning; leave one out", load.of, load.to);
    } else if (*there.load != l) {
      add(Rule::kWeightsTwice, path_of(l),
          what + " is one too many: there is " + describe(*there.load) + "; leave one out", load.of,
          load.to);
    }
    if (!topology_.find(load.from, load.to)) {
      add(Rule::kNoRoute, path_of(l),
          what + ": the platform has no route from " + name(load.from) + " to " + name(load.to),
          load.of, load.to);
    }
    const auto* source = std::get_if<DeviceId>(&load.from);
    const Holding* const at_source = source ? holdings_.find(*source, load.of) : nullptr;
    if (source && (!at_source || !at_source->exists())) {
      add(Rule::kWeightsMissing, path_of(l),
          what + ": " + name(load.from) + " never holds them; load them there first, or take a " +
              "store",
          load.of, load.to);
    }
  }

  void check_in_place(std::size_t i) {
    const OpId op = weights_.in_place[i].of;
    const std::string path = json_path::member("in_place", name(op));
    if (*holdings_.read_in_place(op) != i) {
      add(Rule::kWeightsTwice, path, name(op) + " reads its parameters in place twice", op);
      return;
    }
    if (!assignment_.find(op)) return;  // reported as missing
    const DeviceId device = assignment_[op].device;
    const std::string what = describe(op) + " reads its parameters in place";
    if (!check_entry(path, what, op, device)) return;
    const Holder store = weights_.in_place[i].from;
    if (!topology_.find(store, device)) {
      add(Rule::kNoRoute, path,
          what + ": the platform has no route from " + name(store) + " to " + name(device), op,
          device);
    }
    if (!in_place_ms(graph_.op(op), platform_.device(device))) {
      add(Rule::kInPlace, path,
          what + ": the graph has no in_place_ms of it for " + name(device) + " or its kind", op,
          device);
    }
    check_alone(op, path, what);
    check_not_loaded(op, path, what);
  }

  /// Returns the first two operators of a stage.
  const std::vector<OpId>& first_two(const AssignedTo& assigned) {
    const std::size_t stage = assignment_.stage_number(assigned.device, assigned.stage);
    const auto [found, is_new] = first_two_.try_emplace(stage);
    if (!is_new) return found->second;
    for (const Group& group : schedule_.stages(assigned.device)[assigned.stage].groups) {
      for (const OpId op : group) {
        if (found->second.size() < 2) found->second.push_back(op);
      }
    }
    return found->second;
  }

  /// Reports another operator in the stage; of two that read in place, only one. Its parameters do
  /// not matter: no cost is known of operators next to one that reads in place.
  void check_alone(OpId op, const std::string& path, const std::string& what) {
    const AssignedTo& assigned = assignment_[op];
    for (const OpId other : first_two(assigned)) {
      if (other == op || (holdings_.read_in_place(other) && other < op)) continue;
      add(Rule::kInPlace, path,
          what + " and so is alone in its stage, but " + name(other) +
              " is there, too; give each its own stage",
          op, assigned.device);
      return;
    }
  }

  void check_not_loaded(OpId op, const std::string& path, const std::string& what) {
    const DeviceId device = assignment_[op].device;
    const Holding* const holding = holdings_.find(device, op);
    if (!holding || !holding->load || !holding->readers.empty() || holding->passed_on) return;
    add(Rule::kWeightsTwice, path,
        what + ", and nothing else needs " + describe(*holding->load) + "; leave one out", op,
        device);
  }

  void check_operators() {
    for (std::size_t d = 0; d < platform_.size(); ++d) {
      for (const auto& [set, holding] : holdings_.on(DeviceId(d))) {
        if (holding.exists() || holding.readers.empty()) continue;
        const OpId op = holding.readers.front();
        const AssignedTo& assigned = assignment_[op];
        const std::string more = holding.readers.size() > 1 ? " and others there lack" : " lacks";
        findings_.push_back({Rule::kWeightsMissing,
                             describe(op) + more + " the parameters " + sets_.sets()[set].name +
                                 ": they are not resident on " + name(assigned.device) +
                                 ", no lane loads them there, and it does not read them in place",
                             op, assigned.device, assigned.stage});
      }
    }
  }

  std::string describe_eviction(std::size_t i) const {
    const Eviction& eviction = weights_.evictions[i];
    return "the eviction of " + name(eviction.of) + " from " + name(eviction.from) + " after " +
           name(eviction.after);
  }

  void check_eviction(std::size_t i) {
    const Eviction& eviction = weights_.evictions[i];
    const std::string path = json_path::element("evict", i), what = describe_eviction(i);
    if (!check_entry(path, what, eviction.of, eviction.from)) return;
    const auto gone = [&](const std::string& why) {
      add(Rule::kWeightsGone, path, what + ": " + why, eviction.of, eviction.from);
    };
    const auto& after = assignment_.find(eviction.after);
    const Holding* const holding = holdings_.find(eviction.from, eviction.of);
    if (after && after->device != eviction.from) {
      return gone(name(eviction.after) + " runs on " + name(after->device) +
                  "; take an operator of the device");
    }
    if (!holding || !holding->exists()) return gone("they never are there; leave it out");
    if (!holding->eviction) return;  // its operator runs nowhere, which is reported
    if (*holding->eviction != i) {
      return gone("entry " + std::to_string(*holding->eviction) + " evicts them already");
    }
    for (const OpId reader : holding->readers) {
      if (assignment_[reader].stage <= holding->last_stage) continue;
      return gone(describe(reader) + " reads them later; evict them after it");
    }
  }

  void check_order() {
    const WeightWaits waits(graph_, schedule_, assignment_, holdings_);
    const auto cycles = waits.cycles();
    for (const std::vector<std::size_t>& cycle : cycles) {
      const std::size_t load = *waits.load_of(cycle.front());
      add(Rule::kCycle, path_of(load), waits.describe(cycle, graph_, platform_),
          holdings_.loads()[load].load->of, holdings_.loads()[load].load->to);
    }
    if (!cycles.empty()) return;
    for (std::size_t d = 0; d < platform_.size(); ++d) check_loads_end(DeviceId(d), waits);
    if (std::ranges::find(findings_, Rule::kWeightsGone, &Finding::rule) != findings_.end()) return;
    for (Finding& finding :
         find_lack_of_room(graph_, platform_, schedule_, assignment_, holdings_, waits)) {
      findings_.push_back(std::move(finding));
    }
  }

  /// Checks that loads to and from the device end before it evicts their parameters.
  void check_loads_end(DeviceId device, const WeightWaits& waits) {
    std::optional<std::vector<std::size_t>> first;
    const auto ends_after = [&](std::size_t load, std::size_t stage) {
      if (!first) first = waits.first_stages(device);
      return (*first)[waits.load_node(load)] > stage;
    };
    for (const auto& [set, holding] : holdings_.on(device)) {
      if (!holding.eviction || !holding.load || !holding.readers.empty()) continue;
      if (!ends_after(*holding.load, holding.last_stage)) continue;
      const std::size_t i = *holding.eviction;
      add(Rule::kWeightsGone, json_path::element("evict", i),
          describe_eviction(i) + " may come before " + describe(*holding.load) +
              ", for which that stage does not wait",
          weights_.evictions[i].of, device);
    }
    for (const std::size_t l : holdings_.loads_from(device)) {
      const Load& load = *holdings_.loads()[l].load;
      const Holding* const holding = holdings_.find(device, load.of);
      if (!holding || !holding->eviction || !ends_after(l, holding->last_stage)) continue;
      add(Rule::kWeightsGone, path_of(l),
          describe(l) + " may not have ended before " + describe_eviction(*holding->eviction) +
              ", whose stage does not wait for it",
          load.of, load.to);
    }
  }

  const Graph& graph_;
  const Platform& platform_;
  const Topology& topology_;
  const Schedule& schedule_;
  const Weights& weights_;
  const Assignment& assignment_;
  const ParameterSets sets_;
  const Holdings holdings_;
  std::map<std::size_t, std::vector<OpId>> first_two_;  // by stage, once it was looked up
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> validate_weights(const Graph& graph, const Platform& platform,
                                      const Schedule& schedule, const Assignment& assignment,
                                      bool ordered) {
  if (!platform.topology()) {
    Finding finding{Rule::kNoRoute,
                    "the schedule loads parameters, and the platform has no routes; give it "
                    "stores, buses and routes",
                    {},
                    {},
                    {}};
    finding.weights = "lanes";
    return {finding};
  }
  return WeightsValidator(graph, platform, schedule, assignment).run(ordered);
}

std::string path_of_load(std::size_t lane, std::size_t index) {
  return json_path::element(json_path::element("lanes", lane), index);
}

}  // namespace hios
