#include "scheduler/best/starts/starts.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/algorithms/baselines/ios.h"
#include "scheduler/algorithms/baselines/sequential.h"
#include "scheduler/algorithms/hios/hios.h"
#include "scheduler/algorithms/hios/intra_gpu.h"
#include "scheduler/algorithms/hios/mapping_recording.h"
#include "scheduler/algorithms/list/clustering.h"
#include "scheduler/algorithms/list/heft.h"
#include "scheduler/algorithms/list/peft.h"
#include "scheduler/algorithms/list/strips.h"
#include "scheduler/algorithms/variants.h"
#include "scheduler/best/starts/class_start.h"
#include "scheduler/best/starts/memory_starts.h"
#include "scheduler/best/starts/priced_start.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/list/placement.h"
#include "scheduler/list/priorities.h"
#include "scheduler/list/requirements.h"
#include "scheduler/list/timeline.h"
#include "scheduler/structures/run_all.h"

// An algorithm's schedule shows whether it respects memory limits and shared devices: only
// schedules that validate() accepts are starts. An algorithm that refuses the problem gives none.

namespace hios::scheduler::best {
namespace {

constexpr std::size_t kWindow = 4;              ///< hios-lp's and hios-mr's default
constexpr std::size_t kPassRounds = 2;          ///< hios's default
constexpr std::size_t kFewOperators = 40;       ///< of graphs without starts by relaxations
constexpr std::size_t kLarge = 3000;            ///< operators: Alg. 2 may take seconds
constexpr std::size_t kMostHistories = 2000;    ///< devices: Alg. 3 keeps a time for each two
constexpr std::size_t kFirstThatEndsEarly = 2;  ///< index in the algorithms of starts()

/// Returns the schedule with its latency, or nothing where it is refused.
template <class Make>
std::optional<Start> attempt(const Graph& graph, const CostModel& costs, std::string name,
                             Make make) {
  try {
    Schedule schedule = make();
    if (!validate(graph, costs.platform(), schedule).empty()) return std::nullopt;
    const double latency = simulate(graph, schedule, costs).latency_ms;
    return Start{std::move(name), std::move(schedule), latency};
  } catch (const InputError&) {
    return std::nullopt;  // another algorithm may succeed
  }
}

/// Returns a lower bound of a schedule on this device alone. 0 with a profile, whose stages are
/// known to the cost model of all devices only.
double bound_on_one_device(const Graph& graph, const CostModel& costs, DeviceId device,
                           const Deadline& deadline) {
  if (costs.configuration(device)) return 0;
  const Platform alone({costs.platform().device(device)});
  return lower_bound(graph, CostModel::from_graph(graph, alone), deadline).ms;
}

/// An algorithm that makes a start.
struct StartAlgorithm {
  const char* name;
  std::function<Schedule()> run;
};

/// Maps operators to devices, in one way or several.
struct StartMapping {
  const char* name;
  std::vector<Variant> variants;
};

std::vector<StartMapping> start_mappings(const Graph& graph, const CostModel& costs,
                                         const Deadline& deadline) {
  std::vector<StartMapping> mappings = {
      {"heft", {[&](const CostModel& by) { return schedule_heft(graph, by, {}, deadline); }}},
      {"peft", {[&](const CostModel& by) { return schedule_peft(graph, by, deadline); }}},
      {"cluster", {[&](const CostModel& by) { return schedule_clusters(graph, by, deadline); }}}};
  if (costs.platform().size() <= kMostHistories) {
    mappings.push_back(
        {"hios-mr", {[&](const CostModel& by) { return record_mappings(graph, by, deadline); }}});
  }
  mappings.push_back({"hios-lp", longest_path_variants(graph, false, true, deadline)});
  if (transfers_are_expensive(graph, costs)) {
    mappings.push_back(
        {"strips", {[&](const CostModel& by) { return schedule_strips(graph, by, deadline); }}});
  }
  return mappings;
}

/// Returns the algorithms that starts() runs, the cheap ones first: with few threads, the expensive
/// ones get the remaining time.
std::vector<StartAlgorithm> start_algorithms(const Graph& graph, const CostModel& costs,
                                             const Deadline& deadline) {
  std::vector<StartAlgorithm> algorithms = {
      {"sequential",
       [&] {
         return on_one_device(costs.platform(), single_device(graph, costs, "sequential"),
                              sequential(graph));
       }},
      {"list",
       [&] {
         return list_schedule(graph, costs, priority_order(graph, costs),
                              std::vector<std::optional<DeviceId>>(graph.size()));
       }},
      {"filling", [&] { return fill_in_order(graph, costs, deadline); }}};
  const auto add_mappings = [&](bool with_groups) {
    for (StartMapping& mapping : start_mappings(graph, costs, deadline)) {
      std::vector<Variant>& variants = mapping.variants;
      if (with_groups) {
        for (Variant& map : variants) map = with_stages(graph, std::move(map), kWindow, deadline);
      }
      algorithms.push_back({mapping.name, [&, variants = std::move(variants)] {
                              return shortest(graph, costs, variants, true, deadline).schedule;
                            }});
    }
  };
  // For large graphs the time may end before the passes of `hios`, so those over heft come first.
  if (graph.size() > kLarge) {
    algorithms.push_back(
        {"hios", [&] {
           const Variant heft = [&](const CostModel& by) {
             return schedule_heft(graph, by, {}, deadline);
           };
           const Schedule first = with_stages(graph, heft, kWindow, deadline)(costs).schedule;
           return improve_by_passes(graph, costs, {first, false}, kPassRounds, deadline).schedule;
         }});
  }
  // Where messages matter, Alg. 2 ignores it and may lengthen a schedule.
  if (graph.size() > kLarge || costs.messages_matter()) add_mappings(false);
  add_mappings(true);
  return algorithms;
}

/// Adds a start like that of `hios`: passes over the shortest one of these algorithms with stages,
/// the first among equals, which are the last ones of their names.
void add_improved(const Graph& graph, const CostModel& costs, const Deadline& deadline,
                  const std::string& name, std::initializer_list<const char*> algorithms,
                  std::vector<std::optional<Start>>& made) {
  const Start* shorter = nullptr;
  for (const char* const algorithm : algorithms) {
    const auto found = std::find_if(made.rbegin(), made.rend(), [&](const auto& start) {
      return start && start->name == algorithm;
    });
    if (found == made.rend()) continue;
    if (!shorter || (*found)->latency_ms < shorter->latency_ms) shorter = &**found;
  }
  if (!shorter || deadline.expired()) return;
  made.push_back(attempt(graph, costs, name, [&] {
    return improve_by_passes(graph, costs, {shorter->schedule, false}, kPassRounds, deadline)
        .schedule;
  }));
}

/// Adds the start that `make` returns, and what Alg. 2 and passes make of it.
void add_mapped(const Graph& graph, const CostModel& costs, const Deadline& deadline,
                const std::string& name, const std::function<Schedule()>& make,
                std::vector<std::optional<Start>>& made) {
  if (deadline.expired()) return;
  made.push_back(attempt(graph, costs, name, make));
  if (!made.back()) return;
  const Schedule mapped = made.back()->schedule;
  made.push_back(attempt(graph, costs, name, [&] {
    return parallelize(graph, costs, mapped, kWindow, deadline).schedule;
  }));
  add_improved(graph, costs, deadline, name, {name.c_str()}, made);
}

/// Adds the starts by prices and by classes of devices, unless the graph is so small that the
/// search needs none.
void add_relaxed(const Graph& graph, const CostModel& costs, const Deadline& deadline,
                 std::vector<std::optional<Start>>& made) {
  double known_ms = std::numeric_limits<double>::infinity();
  for (const auto& start : made) {
    if (start) known_ms = std::min(known_ms, start->latency_ms);
  }
  if (graph.size() < kFewOperators || known_ms == std::numeric_limits<double>::infinity()) return;
  const Deadline of_prices = deadline.share(0.5);
  add_mapped(
      graph, costs, of_prices, "prices",
      [&] { return schedule_by_prices(graph, costs, of_prices); }, made);
  add_mapped(
      graph, costs, deadline, "classes",
      [&] { return schedule_by_classes(graph, costs, known_ms, deadline); }, made);
}

}  // namespace

std::vector<Start> starts(const Graph& graph, const CostModel& costs, std::size_t threads,
                          const Deadline& deadline) {
  const std::vector<StartAlgorithm> algorithms = start_algorithms(graph, costs, deadline);
  std::vector<std::optional<Start>> made(algorithms.size());
  run_all(algorithms.size(), costs.reports_unmeasured() ? 1 : threads, [&](std::size_t i) {
    // Without time from the beginning, all later ones return the list schedule too.
    if (i >= kFirstThatEndsEarly && deadline.expired()) return;
    made[i] = attempt(graph, costs, algorithms[i].name, algorithms[i].run);
  });
  // Together no longer than the result of `hios`, which improves the shortest of the three.
  add_improved(graph, costs, deadline, "hios", {"heft", "hios-lp"}, made);
  add_improved(graph, costs, deadline, "strips", {"strips"}, made);
  add_relaxed(graph, costs, deadline, made);
  std::vector<Start> found;
  for (std::optional<Start>& start : made) {
    if (start) found.push_back(std::move(*start));
  }
  if (found.empty()) pack_operators(graph, costs, "best", deadline);  // throws the reason
  std::stable_sort(found.begin(), found.end(),
                   [](const Start& a, const Start& b) { return a.latency_ms < b.latency_ms; });
  return found;
}

std::vector<Schedule> island_starts(const std::vector<Start>& starts) {
  const std::string& shortest = starts.front().name;
  const bool priced = shortest == "prices", strips = shortest == "strips";
  const auto is_far = [&](const Start& start) {
    return priced || strips ? start.name != shortest : start.name == "strips";
  };
  std::vector<Schedule> result{starts.front().schedule};
  const auto other = std::ranges::find_if(starts, is_far);
  if (other != starts.end()) result.push_back(other->schedule);
  return result;
}

std::optional<Start> ios_start(const Graph& graph, const CostModel& costs, double latency_ms,
                               std::int64_t max_endings, const Context& context) {
  return attempt(graph, costs, "ios", [&] {
    const DeviceId device = single_device(graph, costs, "ios");
    if (bound_on_one_device(graph, costs, device, context.deadline) >= latency_ms) {
      throw InputError("ios: no schedule on its device is shorter than those found so far");
    }
    IosOptions limits;
    limits.max_endings = max_endings;
    IosResult result =
        schedule_endings(graph, costs, device, limits, context.deadline, context.progress);
    return on_one_device(costs.platform(), device, std::move(result.stages));
  });
}

}  // namespace hios::scheduler::best
