#include "scheduler/cold/sortinghat/submodel/submodel_greedy.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "scheduler/cold/sortinghat/submodel/growing_times.h"
#include "scheduler/structures/numbers.h"

// Operators in topological order, each to the subgraph in which it ends first by the MILP's own
// times: on any device, the last subgraph in use there or the next of either kind. Its parameters
// come over that device's bus, over another's (and are copied), or stay in the store. Devices that
// have one subgraph left get all that follows in it, so a second search limits how early an
// operator may use a late subgraph. Both searches run on all devices and on each alone; the best
// counts. The cost is operators × devices² steps, each linear in the operator's inputs, and in
// subgraphs where it may be the best (growing_times.cpp); on one device, operators × devices. So a
// search that is late begins with devices alone.
//
// Test: tests/scheduler/cold/sortinghat/submodel_test.cpp

namespace hios::scheduler::sortinghat {
namespace {

class Greedy {
 public:
  Greedy(const SubmodelProblem& problem, std::optional<std::size_t> only, bool paced)
      : problem_(problem),
        only_(only),
        paced_(paced),
        last_(problem.devices, 0),
        growing_(problem) {
    for (const auto& [label, device] : problem.label_on) labels_[label] = device;
  }

  std::optional<SubmodelAssignment> run() {
    for (std::size_t v = 0; v < problem_.operators.size(); ++v) {
      best_.reset();
      for (std::size_t d = 0; d < problem_.devices; ++d) {
        if (may_run(v, d)) try_device(v, d);
      }
      if (!best_) return {};
      growing_.take(best_->step);
      const SubgraphId j = best_->step.subgraph;
      const std::size_t device = problem_.device_of(j);
      last_[device] = j;
      const std::string& label = problem_.operators[v].colocate;
      if (!label.empty()) labels_[label] = device;
    }
    SubmodelAssignment assignment = growing_.assignment();
    drop_unread(problem_, assignment);
    return assignment;
  }

 private:
  using Key = std::tuple<double, double, double, SubgraphId>;
  struct Choice {
    Key key;
    GrowingTimes::Step step;
  };

  bool may_run(std::size_t v, std::size_t device) const {
    if (only_ && *only_ != device) return false;
    const auto label = labels_.find(problem_.operators[v].colocate);
    return label == labels_.end() || label->second == device;
  }

  void try_device(std::size_t v, std::size_t device) {
    const std::size_t q = problem_.subgraphs_per_device;
    const SubgraphId first = std::max(last_[device], problem_.first_of(device));
    SubgraphId end = problem_.first_of(device) + q;
    if (paced_) {
      const std::size_t share = (v + 1) * (q / 2) / problem_.operators.size();
      end = std::max(first + 1, std::min(end, problem_.first_of(device) + 2 * (share + 1)));
    }
    for (SubgraphId j = first; j < std::min(end, first + 3); ++j) try_subgraph(j);
  }

  void try_subgraph(SubgraphId j) {
    if (problem_.in_place(j) || !growing_.may_load()) return consider({j});
    const std::size_t turn = j - problem_.first_of(problem_.device_of(j));
    for (std::size_t d = 0; d < problem_.devices; ++d) {
      consider({j, problem_.first_of(d) + turn});
    }
  }

  void consider(const GrowingTimes::Step& step) {
    const double least_ms = growing_.least_end_ms(step);
    if (least_ms == kInfinity) return;
    if (best_ && least_ms > std::get<0>(best_->key) * (1 + kRounding)) return;
    const auto times = growing_.with(step);
    if (!times) return;
    const Key key{times->end_ms, times->latency_ms, times->lanes_end_ms, step.subgraph};
    if (!best_ || key < best_->key) best_ = Choice{key, step};
  }

  static constexpr double kRounding = 1e-12;

  const SubmodelProblem& problem_;
  std::optional<std::size_t> only_;
  bool paced_;
  std::vector<SubgraphId> last_;  // by device, the last subgraph in use; 0: none
  std::map<std::string, std::size_t> labels_;
  GrowingTimes growing_;
  std::optional<Choice> best_;
};

}  // namespace

std::optional<SubmodelAssignment> greedy_assignment(const SubmodelProblem& problem,
                                                    const Deadline& deadline) {
  std::optional<SubmodelAssignment> best;
  std::optional<SubmodelTimes> least;
  const auto consider = [&](std::optional<std::size_t> only, bool paced) {
    auto found = Greedy(problem, only, paced).run();
    if (!found) return;
    auto times = times_of(problem, *found);
    if (!times || (least && !times->better_than(*least))) return;
    best = std::move(found);
    least = std::move(times);
  };
  const bool late = deadline.expired();
  for (const bool paced : {false, true}) {
    if (!late) consider({}, paced);
    for (std::size_t d = 0; d < problem.devices; ++d) {
      if (best && deadline.expired()) return best;
      consider(d, paced);
    }
    if (late && !best) consider({}, paced);
  }
  return best;
}

}  // namespace hios::scheduler::sortinghat
