#include "engine/cold/planned_loads.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "hios/graph/parameters.h"

namespace hios {
namespace {

/// Plans the loads of one rank, then the waits for them.
class LoadPlanner {
 public:
  LoadPlanner(const Graph& graph, const Schedule& schedule, Rank rank)
      : graph_(graph),
        weights_(*schedule.weights),
        sets_(graph),
        stages_(schedule.devices[rank.index()]),
        here_(rank.index()),
        stage_of_set_(sets_.sets().size(), SIZE_MAX),
        readers_(sets_.sets().size()) {
    for (const ReadInPlace& read : weights_.in_place) in_place_.insert(read.of);
  }

  PlannedLoads plan() && {
    find_readers();
    for (std::size_t l = 0; l < weights_.lanes.size(); ++l) plan_lane(l);
    plan_waits();
    return std::move(plan_);
  }

 private:
  void find_readers() {
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      for (const Group& group : stages_[s].groups) {
        for (const OpId op : group) {
          const auto set = sets_.of(op);
          if (!set) continue;
          if (in_place_.contains(op)) {
            plan_.in_place.push_back(op);
            continue;
          }
          readers_[*set].push_back(op);
          stage_of_set_[*set] = std::min(stage_of_set_[*set], s);
        }
      }
    }
    for (std::vector<OpId>& readers : readers_) std::ranges::sort(readers);
  }

  // Parameters that no operator here reads are not loaded: nothing could tell.
  void plan_lane(std::size_t lane) {
    std::vector<PlannedLoad> loads;
    for (std::size_t i = 0; i < weights_.lanes[lane].size(); ++i) {
      const Load& load = weights_.lanes[lane][i];
      const auto set = sets_.of(load.of);
      if (load.to.index() != here_ || !set || readers_[*set].empty()) continue;
      loads.push_back({lane, i, readers_[*set], graph_.op(load.of).parameter_bytes});
    }
    if (!loads.empty()) plan_.lanes.push_back(std::move(loads));
  }

  void plan_waits() {
    plan_.waits.resize(stages_.size());
    for (std::size_t l = 0; l < plan_.lanes.size(); ++l) {
      std::vector<std::size_t> last(stages_.size(), 0);  // by stage: the loads it waits for
      for (std::size_t i = 0; i < plan_.lanes[l].size(); ++i) {
        const std::size_t set = *sets_.of(plan_.lanes[l][i].readers.front());
        last[weights_.load_first ? 0 : stage_of_set_[set]] = i + 1;
      }
      std::size_t awaited = 0;
      for (std::size_t s = 0; s < stages_.size(); ++s) {
        if (last[s] <= awaited) continue;
        awaited = last[s];
        plan_.waits[s].push_back({l, awaited - 1});
      }
    }
  }

  const Graph& graph_;
  const Weights& weights_;
  const ParameterSets sets_;
  std::set<OpId> in_place_;
  const std::vector<Stage>& stages_;
  std::size_t here_;
  std::vector<std::size_t> stage_of_set_;   // by set: the first stage here that reads it
  std::vector<std::vector<OpId>> readers_;  // by set: the operators here that read it
  PlannedLoads plan_;
};

}  // namespace

PlannedLoads plan_loads(const Graph& graph, const Schedule& schedule, Rank rank) {
  if (!schedule.weights) return {};
  return LoadPlanner(graph, schedule, rank).plan();
}

std::string unplanned_weights(const ScheduleFile& file) {
  const Weights& weights = *file.schedule.weights;
  for (const ReadInPlace& read : weights.in_place) {
    if (file.stores[read.from.index()].kind == StoreKind::kMemory) continue;
    return "in_place: no engine reads parameters in place from a disk yet";
  }
  if (!weights.evictions.empty()) return "evict[0]: no engine evicts parameters yet";
  std::optional<DeviceId> only;
  for (std::size_t l = 0; l < weights.lanes.size(); ++l) {
    const Lane& lane = weights.lanes[l];
    for (std::size_t i = 0; i < lane.size(); ++i) {
      const std::string path = "lanes[" + std::to_string(l) + "][" + std::to_string(i) + "]: ";
      const auto* const store = std::get_if<StoreId>(&lane[i].from);
      if (store == nullptr) return path + "no engine loads parameters from another device yet";
      if (file.stores[store->index()].kind == StoreKind::kDisk) {
        return path + "no engine reads parameters from a disk yet";
      }
      if (lane[i].to != lane.front().to) {
        return path + "no engine passes a lane from one device to another yet";
      }
      if (weights.load_first && only.value_or(lane[i].to) != lane[i].to) {
        return "load_first: no engine lets devices wait for each other's loads yet";
      }
      only = lane[i].to;
    }
  }
  return {};
}

}  // namespace hios
