#include "scheduler/batches/join.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace hios::scheduler {
namespace {

/// The position of a batch in the schedule.
struct BatchPosition {
  std::size_t device, stage, group, position;
};

class Search {
 public:
  Search(const DivisibleProblem& problem, TimedDivision start, const Context& context)
      : problem_(problem), context_(context), best_(std::move(start)) {
    index_batches();
  }

  TimedDivision run() && {
    bool better = true;
    while (better) {
      better = false;
      // Batches appear and vanish meanwhile, so the loop goes by number.
      for (std::size_t v = 0; v < best_.division.graph->size(); ++v) {
        if (context_.deadline.expired()) return std::move(best_);
        if (join(OpId(v)) || split(OpId(v))) better = true;
      }
    }
    return std::move(best_);
  }

 private:
  void index_batches() {
    stages_ = batch_stages(*best_.division.graph, best_.schedule);
    positions_.assign(best_.division.graph->size(), {});
    for (std::size_t d = 0; d < best_.schedule.devices.size(); ++d) {
      const auto& stages = best_.schedule.devices[d];
      for (std::size_t s = 0; s < stages.size(); ++s) {
        for (std::size_t g = 0; g < stages[s].groups.size(); ++g) {
          const Group& group = stages[s].groups[g];
          for (std::size_t p = 0; p < group.size(); ++p)
            positions_[group[p].index()] = {d, s, g, p};
        }
      }
    }
  }

  std::vector<Batch>& group_of(BatchStages& stages, const BatchPosition& at) const {
    return stages[at.device][at.stage][at.group];
  }

  static void remove_empty(std::vector<std::vector<std::vector<Batch>>>& stages) {
    for (auto& groups : stages) std::erase_if(groups, [](const auto& g) { return g.empty(); });
    std::erase_if(stages, [](const auto& groups) { return groups.empty(); });
  }

  bool keep_if_shorter(const BatchStages& changed) {
    auto made = timed(problem_, changed);
    if (!made || made->latency_ms >= best_.latency_ms) return false;
    best_ = *std::move(made);
    index_batches();
    return true;
  }

  /// Joins v with the batch of the next inputs. Returns true if that makes the schedule shorter.
  bool join(OpId v) {
    const Graph& graph = *best_.division.graph;
    const OpId next(v.index() + 1);
    if (next.index() >= graph.size()) return false;
    const Batch a = graph.batch(v), b = graph.batch(next);
    const BatchPosition at_a = positions_[v.index()], at_b = positions_[next.index()];
    if (a.op != b.op || at_a.device != at_b.device) return false;
    const Batch both{a.op, {a.inputs.begin, b.inputs.end}};
    if (!problem_.graphs->has(both.inputs.size())) return false;
    for (const auto& [kept, gone, batch] : {std::tuple(at_a, at_b, b), std::tuple(at_b, at_a, a)}) {
      BatchStages changed = stages_;
      group_of(changed, kept)[kept.position] = both;
      std::erase(group_of(changed, gone), batch);
      remove_empty(changed[kept.device]);
      if (keep_if_shorter(changed)) return true;
    }
    return false;
  }

  /// Splits v into two halves, so that the earlier can be sent before the later is done. Returns
  /// true if that makes the schedule shorter.
  bool split(OpId v) {
    const Batch all = best_.division.graph->batch(v);
    const std::int64_t part = problem_.graphs->sizes().front();
    const std::int64_t middle = all.inputs.begin + all.inputs.size() / part / 2 * part;
    if (middle == all.inputs.begin) return false;
    const BatchPosition at = positions_[v.index()];
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
    return keep_if_shorter(changed);
  }

  const DivisibleProblem& problem_;
  const Context& context_;
  TimedDivision best_;
  BatchStages stages_;                    // stages of best_
  std::vector<BatchPosition> positions_;  // by vertex
};

}  // namespace

TimedDivision join_batches(const DivisibleProblem& problem, TimedDivision start,
                           const Context& context) {
  return Search(problem, std::move(start), context).run();
}

}  // namespace hios::scheduler
