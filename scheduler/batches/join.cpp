#include "scheduler/batches/join.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace hios::scheduler {
namespace {

/// Where a batch stands.
struct Place {
  std::size_t device, stage, group, position;
};

class Search {
 public:
  Search(const DivisibleProblem& problem, TimedDivision start, const Context& context)
      : problem_(problem), context_(context), best_(std::move(start)) {
    read();
  }

  TimedDivision run() && {
    bool better = true;
    while (better) {
      better = false;
      // Batches come and go while it looks: by number, as long as there are any.
      for (std::size_t v = 0; v < best_.division.graph->size(); ++v) {
        if (context_.deadline.expired()) return std::move(best_);
        if (join(OpId(v)) || split(OpId(v))) better = true;
      }
    }
    return std::move(best_);
  }

 private:
  void read() {
    stages_ = batch_stages(*best_.division.graph, best_.schedule);
    places_.assign(best_.division.graph->size(), {});
    for (std::size_t d = 0; d < best_.schedule.devices.size(); ++d) {
      const auto& stages = best_.schedule.devices[d];
      for (std::size_t s = 0; s < stages.size(); ++s) {
        for (std::size_t g = 0; g < stages[s].groups.size(); ++g) {
          const Group& group = stages[s].groups[g];
          for (std::size_t p = 0; p < group.size(); ++p) places_[group[p].index()] = {d, s, g, p};
        }
      }
    }
  }

  std::vector<Batch>& group_of(BatchStages& stages, const Place& at) const {
    return stages[at.device][at.stage][at.group];
  }

  static void remove_empty(std::vector<std::vector<std::vector<Batch>>>& stages) {
    for (auto& groups : stages) std::erase_if(groups, [](const auto& g) { return g.empty(); });
    std::erase_if(stages, [](const auto& groups) { return groups.empty(); });
  }

  bool take(const BatchStages& changed) {
    auto made = timed(problem_, changed);
    if (!made || made->latency_ms >= best_.latency_ms) return false;
    best_ = *std::move(made);
    read();
    return true;
  }

  /// With the batch of the next inputs.
  bool join(OpId v) {
    const Graph& graph = *best_.division.graph;
    const OpId next(v.index() + 1);
    if (next.index() >= graph.size()) return false;
    const Batch a = graph.batch(v), b = graph.batch(next);
    const Place at_a = places_[v.index()], at_b = places_[next.index()];
    if (a.op != b.op || at_a.device != at_b.device) return false;
    const Batch both{a.op, {a.inputs.begin, b.inputs.end}};
    if (!problem_.graphs->has(both.inputs.size())) return false;
    for (const auto& [kept, gone, batch] : {std::tuple(at_a, at_b, b), std::tuple(at_b, at_a, a)}) {
      BatchStages changed = stages_;
      group_of(changed, kept)[kept.position] = both;
      std::erase(group_of(changed, gone), batch);
      remove_empty(changed[kept.device]);
      if (take(changed)) return true;
    }
    return false;
  }

  /// Into two halves, of which the later need not be done when the earlier is sent.
  bool split(OpId v) {
    const Batch all = best_.division.graph->batch(v);
    const std::int64_t part = problem_.graphs->sizes().front();
    const std::int64_t middle = all.inputs.begin + all.inputs.size() / part / 2 * part;
    if (middle == all.inputs.begin) return false;
    const Place at = places_[v.index()];
    BatchStages changed = stages_;
    auto& stages = changed[at.device];
    const Batch second{all.op, {middle, all.inputs.end}};
    group_of(changed, at)[at.position].inputs.end = middle;
    if (stages[at.stage].size() > 1 || stages[at.stage][at.group].size() > 1) {
      auto& group = group_of(changed, at);
      group.insert(group.begin() + static_cast<std::ptrdiff_t>(at.position) + 1, second);
    } else {
      stages.emplace(stages.begin() + static_cast<std::ptrdiff_t>(at.stage) + 1, 1,
                     std::vector<Batch>{second});
    }
    return take(changed);
  }

  const DivisibleProblem& problem_;
  const Context& context_;
  TimedDivision best_;
  BatchStages stages_;         // of the best
  std::vector<Place> places_;  // by vertex
};

}  // namespace

TimedDivision join_batches(const DivisibleProblem& problem, TimedDivision start,
                           const Context& context) {
  return Search(problem, std::move(start), context).run();
}

}  // namespace hios::scheduler
