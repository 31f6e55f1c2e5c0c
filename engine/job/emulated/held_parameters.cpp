#include "engine/job/emulated/held_parameters.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "hios/graph/parameters.h"
#include "hios/schedule/assignment.h"

namespace hios::job {
namespace {

/// The changes of what each device holds.
class Changes {
 public:
  Changes(const Graph& graph, std::size_t devices) : sets_(graph), by_device_(devices) {}

  /// Adds parameters that are there from the beginning, if they are not yet.
  void hold(OpId op, DeviceId device) {
    const auto set = sets_.of(op);
    if (set && held_.emplace(device, *set).second) note(device, 0, true, size_of(*set));
  }
  void load(const Load& load, const LoadTimes& times) {
    note(load.to, times.start_ms, true, times.size_bytes);
  }
  void evict(const Eviction& eviction, double ms) {
    if (const auto set = sets_.of(eviction.of)) note(eviction.from, ms, false, size_of(*set));
  }

  std::vector<Bytes> most() {
    std::vector<Bytes> most;
    for (std::vector<Change>& changes : by_device_) {
      std::ranges::sort(changes);
      Bytes held = 0, largest = 0;
      for (const auto& [ms, adds, size_bytes] : changes) {
        held = adds ? held + size_bytes : held - size_bytes;
        largest = std::max(largest, held);
      }
      most.push_back(largest);
    }
    return most;
  }

 private:
  using Change = std::tuple<double, bool, Bytes>;  // of equal times, what leaves comes first

  Bytes size_of(std::size_t set) const { return sets_.sets()[set].size_bytes; }
  void note(DeviceId device, double ms, bool adds, Bytes size_bytes) {
    by_device_[device.index()].emplace_back(ms, adds, size_bytes);
  }

  const ParameterSets sets_;
  std::set<std::pair<DeviceId, std::size_t>> held_;
  std::vector<std::vector<Change>> by_device_;
};

}  // namespace

std::vector<Bytes> most_held_parameters(const Graph& graph, const Schedule& schedule,
                                        const Timeline& simulated) {
  Changes changes(graph, schedule.devices.size());
  const Assignment assignment(graph.size(), schedule);
  if (!schedule.weights) {
    for (std::size_t v = 0; v < graph.size(); ++v) {
      changes.hold(OpId(v), assignment[OpId(v)].device);
    }
    return changes.most();
  }
  for (const Resident& resident : schedule.weights->resident) {
    changes.hold(resident.of, resident.on);
  }
  for (const LoadTimes& times : simulated.loads) {
    changes.load(schedule.weights->lanes[times.lane][times.index], times);
  }
  for (const Eviction& eviction : schedule.weights->evictions) {
    const AssignedTo& after = assignment[eviction.after];
    changes.evict(eviction, simulated.stages[after.device.index()][after.stage].end_ms);
  }
  return changes.most();
}

}  // namespace hios::job
