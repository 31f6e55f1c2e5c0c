#include "scheduler/split/diagram/tails.h"

#include <algorithm>
#include <set>
#include <vector>

#include "scheduler/split/diagram/decision_diagram.h"
#include "scheduler/structures/numbers.h"

// The tail of operator v on device d is bounded by a local problem: v on d at time 0 with no
// duration, and some of the operators that it leads to. They start after v, and their own tails
// bound the time after their ends. compile_diagram() bounds every schedule of the local problem,
// and so the tail of v. Operators are visited from last to first, so the tails that a local problem
// uses are raised already, and a small local problem sees far.
//
// A diagram is cheap when its cutoff is low. The cutoff grows in steps from the known tail. Once
// head, time and tail reach `cutoff_ms`, no schedule below the cutoff has the operator on that
// device.
//
// Heads are the tails of the mirrored problem.

namespace hios::scheduler::split {
namespace {

constexpr double kFirstStep = 0.04, kStepGrowth = 1.6;  // times the local problem's length

class Tails {
 public:
  Tails(DiagramProblem& problem, const TailLimits& limits)
      : problem_(problem), limits_(limits), out_(problem.operators) {
    for (std::size_t a = 0; a < problem.arcs.size(); ++a) out_[problem.arcs[a].from].push_back(a);
  }

  void run() {
    for (std::size_t v = problem_.operators; v-- > 0;) {
      if (stopped()) return;
      DiagramProblem local = local_problem(v);
      for (std::size_t d = 0; d < problem_.devices; ++d) {
        if (problem_.time[problem_.at(v, d)] < kInfinity) raise(v, d, local);
      }
    }
  }

 private:
  bool stopped() const { return limits_.deadline.expired(); }

  /// Returns v and the first operators, in order, of those that it leads to; paths stay within.
  DiagramProblem local_problem(std::size_t v) const {
    std::vector<std::size_t> found;
    std::set<std::size_t> reached{v};
    while (!reached.empty() && found.size() <= limits_.followers) {
      const std::size_t u = *reached.begin();
      reached.erase(reached.begin());
      found.push_back(u);
      for (std::size_t a : out_[u]) reached.insert(problem_.arcs[a].to);
    }
    DiagramProblem local = restricted_to(problem_, found);
    std::fill(local.head.begin(), local.head.end(), 0.0);
    return local;
  }

  /// Returns the tail that paths alone give.
  double path_ms(std::size_t v, std::size_t d) const {
    double longest = problem_.tail[problem_.at(v, d)];
    for (std::size_t a : out_[v]) {
      const DiagramProblem::Arc& arc = problem_.arcs[a];
      double least = kInfinity;
      for (std::size_t e = 0; e < problem_.devices; ++e) {
        const std::size_t w = problem_.at(arc.to, e);
        least =
            std::min(least, arc.ms[d * problem_.devices + e] + problem_.time[w] + problem_.tail[w]);
      }
      longest = std::max(longest, least);
    }
    return longest;
  }

  void raise(std::size_t v, std::size_t d, DiagramProblem& local) {
    for (std::size_t e = 0; e < problem_.devices; ++e) {
      local.time[e] = e == d ? 0 : kInfinity;
      local.tail[e] = 0;
    }
    const std::size_t at = problem_.at(v, d);
    const double most = limits_.cutoff_ms - problem_.head[at] - problem_.time[at];
    double tail = path_ms(v, d);
    const double length = local.operators > 1 ? tail - least_tail(local) : 0;
    for (double step = kFirstStep * length; step > 0 && tail < most && !stopped();
         step *= kStepGrowth) {
      const double below = std::min(most, tail + step);
      const double bound =
          compile_diagram(local, {below, limits_.width, limits_.deadline}).bound_ms;
      tail = std::max(tail, bound);
      if (bound < below) break;
    }
    problem_.tail[at] = tail;
    if (tail >= most) problem_.time[at] = kInfinity;
  }

  /// Returns the least tail of all operators but the first.
  double least_tail(const DiagramProblem& local) const {
    return *std::min_element(local.tail.begin() + static_cast<std::ptrdiff_t>(problem_.devices),
                             local.tail.end());
  }

  DiagramProblem& problem_;
  const TailLimits& limits_;
  std::vector<std::vector<std::size_t>> out_;
};

}  // namespace

void raise_tails(DiagramProblem& problem, const TailLimits& limits) {
  Tails(problem, limits).run();
}

double longest_path_ms(const DiagramProblem& problem) {
  double longest = 0;
  for (std::size_t v = 0; v < problem.operators; ++v) {
    double least = kInfinity;
    for (std::size_t d = 0; d < problem.devices; ++d) {
      const std::size_t at = problem.at(v, d);
      least = std::min(least, problem.head[at] + problem.time[at] + problem.tail[at]);
    }
    longest = std::max(longest, least);
  }
  return longest;
}

}  // namespace hios::scheduler::split
