#include "scheduler/best/starts.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "hios/error.h"
#include "hios/simulate.h"
#include "hios/validate.h"
#include "scheduler/bounds.h"
#include "scheduler/intra_gpu.h"
#include "scheduler/ios.h"
#include "scheduler/longest_path.h"
#include "scheduler/mapping_recording.h"
#include "scheduler/placement.h"
#include "scheduler/priorities.h"
#include "scheduler/requirements.h"
#include "scheduler/sequential.h"
#include "scheduler/timeline.h"

// Whether an algorithm keeps memory limits and shared devices is judged by its schedule: what
// validate() refuses is no start. An algorithm that refuses the problem itself is none either.

namespace hios::scheduler::best {
namespace {

constexpr std::size_t kWindow = 4;  ///< hios-lp's and hios-mr's default

Schedule on_one_device(const CostModel& costs, DeviceId device, std::vector<Stage> stages) {
  Schedule schedule;
  schedule.devices.resize(costs.platform().size());
  schedule.devices[device.index()] = std::move(stages);
  return schedule;
}

class Collector {
 public:
  Collector(const Graph& graph, const CostModel& costs) : graph_(graph), costs_(costs) {}

  template <class Make>
  void add(std::string name, Make make) {
    try {
      Schedule schedule = make();
      if (!validate(graph_, costs_.platform(), schedule).empty()) return;
      const double latency = simulate(graph_, schedule, costs_).latency_ms;
      starts_.push_back({std::move(name), std::move(schedule), latency});
    } catch (const InputError&) {
      // It says why it cannot; others may.
    }
  }

  bool empty() const { return starts_.empty(); }
  std::vector<Start> take() {
    std::stable_sort(starts_.begin(), starts_.end(),
                     [](const Start& a, const Start& b) { return a.latency_ms < b.latency_ms; });
    return std::move(starts_);
  }

 private:
  const Graph& graph_;
  const CostModel& costs_;
  std::vector<Start> starts_;
};

/// What a schedule on this device alone takes at least. 0 with a profile, whose stages are known to
/// the cost model of all devices only.
double bound_on_one_device(const Graph& graph, const CostModel& costs, DeviceId device) {
  if (costs.configuration(device)) return 0;
  const Platform alone({costs.platform().device(device)});
  return lower_bound(graph, CostModel::from_graph(graph, alone)).ms;
}

}  // namespace

std::vector<Start> starts(const Graph& graph, const CostModel& costs,
                          const std::function<bool()>& out_of_time) {
  Collector found(graph, costs);
  const auto late = [&] { return !found.empty() && out_of_time && out_of_time(); };
  const auto grouped = [&](const TimedSchedule& mapped) {
    return parallelize(graph, costs, mapped.schedule, kWindow, out_of_time).schedule;
  };
  found.add("sequential", [&] {
    return on_one_device(costs, single_device(graph, costs, "sequential"), sequential(graph));
  });
  if (!late()) {
    found.add("hios-lp", [&] { return grouped(map_longest_paths(graph, costs, {}, out_of_time)); });
  }
  if (!late()) {
    found.add("hios-mr", [&] { return grouped(record_mappings(graph, costs, out_of_time)); });
  }
  if (found.empty()) {
    found.add("placement", [&] {
      return list_schedule(graph, costs, priority_order(graph, costs),
                           pack_operators(graph, costs, "best"));
    });
  }
  if (found.empty()) pack_operators(graph, costs, "best");  // says why there is none
  return found.take();
}

std::vector<Start> ios_start(const Graph& graph, const CostModel& costs, double latency_ms,
                             std::int64_t max_endings, const Context& context) {
  Collector found(graph, costs);
  found.add("ios", [&] {
    const DeviceId device = single_device(graph, costs, "ios");
    if (bound_on_one_device(graph, costs, device) >= latency_ms) {
      throw InputError("ios: cannot be shorter than what there is");
    }
    IosOptions limits;
    limits.max_endings = max_endings;
    IosResult result =
        schedule_endings(graph, costs, device, limits, context.out_of_time, context.progress);
    return on_one_device(costs, device, std::move(result.stages));
  });
  return found.take();
}

}  // namespace hios::scheduler::best
