#include "hios/evaluate/limits/waits.h"

#include <algorithm>
#include <map>

#include "hios/evaluate/limits/arrivals.h"

namespace hios {

double DeviceTimes::waiting_ms() const {
  double ms = 0;
  for (const Wait& wait : waits) ms += wait.ms;
  for (const LoadWait& wait : load_waits) ms += wait.ms;
  return ms;
}

void tidy_waits(std::vector<Wait>& waits) {
  std::map<OpId, Wait> by_producer;
  for (const Wait& wait : waits) {
    Wait& joined =
        by_producer.emplace(wait.producer, Wait{wait.producer, wait.from, 0}).first->second;
    joined.ms += wait.ms;
  }
  waits.clear();
  for (const auto& [producer, wait] : by_producer) waits.push_back(wait);
  std::ranges::stable_sort(waits, std::greater<>(), &Wait::ms);
}

void tidy_waits(std::vector<LoadWait>& waits) {
  std::map<std::pair<std::size_t, OpId>, double> by_load;
  for (const LoadWait& wait : waits) by_load[{wait.lane, wait.of}] += wait.ms;
  waits.clear();
  for (const auto& [load, ms] : by_load) waits.push_back({load.second, load.first, ms});
  std::ranges::stable_sort(waits, std::greater<>(), &LoadWait::ms);
}

std::vector<DeviceTimes> device_times(const Graph& graph, const Schedule& schedule,
                                      const Timeline& timeline, const CostModel& costs) {
  const Arrivals arrivals(graph, schedule, timeline, &costs);
  std::vector<DeviceTimes> devices(schedule.devices.size());
  for (std::size_t d = 0; d < devices.size(); ++d) {
    DeviceTimes& device = devices[d];
    double ended_ms = 0;
    for (std::size_t s = 0; s < timeline.stages[d].size(); ++s) {
      const StageTimes& stage = timeline.stages[d][s];
      device.idle_ms += stage.awaited_ms - ended_ms;
      const double wait_ms = stage.start_ms - stage.awaited_ms;
      if (wait_ms > 0) {
        const auto last = arrivals.last(DeviceId(d), s);
        const auto load = arrivals.last_load(DeviceId(d), s);
        if (load && (!last || load->ms > last->ms)) {
          device.load_waits.push_back({load->of, load->lane, wait_ms});
        } else if (last)
          device.waits.push_back({last->producer, last->from, wait_ms});
      }
      device.busy_ms += stage.end_ms - stage.start_ms;
      ended_ms = stage.end_ms;
    }
    device.idle_ms += timeline.latency_ms - ended_ms;
    tidy_waits(device.waits);
    tidy_waits(device.load_waits);
  }
  return devices;
}

std::vector<WaitsForLane> waits_by_lane(const DeviceTimes& times) {
  std::vector<WaitsForLane> all;
  for (const LoadWait& wait : times.load_waits) {
    auto found = std::ranges::find(all, wait.lane, &WaitsForLane::lane);
    if (found == all.end()) found = all.insert(all.end(), {wait.lane, 0, {}});
    found->ms += wait.ms;
    found->operators.push_back(wait.of);
  }
  std::ranges::stable_sort(all, std::greater<>(), &WaitsForLane::ms);
  return all;
}

std::vector<WaitsFor> waits_by_device(const DeviceTimes& times) {
  std::vector<WaitsFor> all;
  for (const Wait& wait : times.waits) {
    auto found = std::ranges::find(all, wait.from, &WaitsFor::from);
    if (found == all.end()) found = all.insert(all.end(), {wait.from, 0, {}});
    found->ms += wait.ms;
    found->producers.push_back(wait.producer);
  }
  std::ranges::stable_sort(all, std::greater<>(), &WaitsFor::ms);
  return all;
}

}  // namespace hios
