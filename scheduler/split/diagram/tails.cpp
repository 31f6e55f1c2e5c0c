#include "scheduler/split/diagram/tails.h"

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "scheduler/split/diagram/decision_diagram.h"

// What passes at least from an operator's end on a device to the last end of all: let it take no
// time, at time 0, on that device, and of the operators that it leads to take some; they begin
// behind it, and what passes behind their ends are their tails. No schedule of these is below the
// least of all, which search_begun() bounds. From the last operator to the first, the tails that
// are asked for are raised already, so that a small window sees far.
//
// The search is cheap where the limit is low: it is raised in steps from the tail that is known. A
// tail at which head, time and tail come to `below_ms` says that the operator is not on that device
// in any schedule below it.
//
// Heads are tails of the mirrored work.

namespace hios::scheduler::split {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFirstStep = 0.04, kGrowth = 1.6;  // of the window's own length

class Tails {
 public:
  Tails(Work& work, const TailLimits& limits) : work_(work), limits_(limits), out_(work.operators) {
    for (std::size_t a = 0; a < work.arcs.size(); ++a) out_[work.arcs[a].from].push_back(a);
  }

  void run() {
    for (std::size_t v = work_.operators; v-- > 0;) {
      if (stopped()) return;
      Work window = window_of(v);
      for (std::size_t d = 0; d < work_.devices; ++d) {
        if (work_.time[work_.at(v, d)] < kInfinity) raise(v, d, window);
      }
    }
  }

 private:
  bool stopped() const { return limits_.deadline.expired(); }

  /// An operator and the first in order of those that it leads to, as far as there are paths
  /// within.
  Work window_of(std::size_t v) const {
    std::vector<std::size_t> found;
    std::set<std::size_t> reached{v};
    while (!reached.empty() && found.size() <= limits_.window) {
      const std::size_t u = *reached.begin();
      reached.erase(reached.begin());
      found.push_back(u);
      for (std::size_t a : out_[u]) reached.insert(work_.arcs[a].to);
    }
    Work window = some_of(work_, found);
    std::fill(window.head.begin(), window.head.end(), 0.0);
    return window;
  }

  /// By paths alone.
  double path_ms(std::size_t v, std::size_t d) const {
    double longest = work_.tail[work_.at(v, d)];
    for (std::size_t a : out_[v]) {
      const Work::Arc& arc = work_.arcs[a];
      double least = kInfinity;
      for (std::size_t e = 0; e < work_.devices; ++e) {
        const std::size_t w = work_.at(arc.to, e);
        least = std::min(least, arc.ms[d * work_.devices + e] + work_.time[w] + work_.tail[w]);
      }
      longest = std::max(longest, least);
    }
    return longest;
  }

  void raise(std::size_t v, std::size_t d, Work& window) {
    for (std::size_t e = 0; e < work_.devices; ++e) {
      window.time[e] = e == d ? 0 : kInfinity;
      window.tail[e] = 0;
    }
    const std::size_t at = work_.at(v, d);
    const double most = limits_.below_ms - work_.head[at] - work_.time[at];
    double tail = path_ms(v, d);
    const double length = window.operators > 1 ? tail - least_tail(window) : 0;
    for (double step = kFirstStep * length; step > 0 && tail < most && !stopped();
         step *= kGrowth) {
      const double below = std::min(most, tail + step);
      const double bound = search_begun(window, {below, limits_.width, limits_.deadline}).bound_ms;
      tail = std::max(tail, bound);
      if (bound < below) break;
    }
    work_.tail[at] = tail;
    if (tail >= most) work_.time[at] = kInfinity;
  }

  /// Of its operators but the first.
  double least_tail(const Work& window) const {
    return *std::min_element(window.tail.begin() + static_cast<std::ptrdiff_t>(work_.devices),
                             window.tail.end());
  }

  Work& work_;
  const TailLimits& limits_;
  std::vector<std::vector<std::size_t>> out_;
};

}  // namespace

void raise_tails(Work& work, const TailLimits& limits) { Tails(work, limits).run(); }

double longest_path_ms(const Work& work) {
  double longest = 0;
  for (std::size_t v = 0; v < work.operators; ++v) {
    double least = kInfinity;
    for (std::size_t d = 0; d < work.devices; ++d) {
      const std::size_t at = work.at(v, d);
      least = std::min(least, work.head[at] + work.time[at] + work.tail[at]);
    }
    longest = std::max(longest, least);
  }
  return longest;
}

}  // namespace hios::scheduler::split
