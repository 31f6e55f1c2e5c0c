#include "scheduler/bounds/destructive.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "scheduler/bounds/critical_path.h"
#include "scheduler/bounds/intervals.h"
#include "scheduler/bounds/relaxations/candidate_devices.h"
#include "scheduler/bounds/relaxations/one_device.h"
#include "scheduler/structures/numbers.h"

// A destructive bound (R. Klein and A. Scholl, "Computing lower bounds by destructive
// improvement"): suppose that some schedule has a latency of at most T, and draw conclusions until
// a contradiction; then every latency is above T.
//  - A device on which an operator would be too late is excluded for it
//    (relaxations/candidate_devices.h).
//  - An edge that cannot be cut in time, head + share + transfer + share + tail > T, has both ends
//    on one device. So have all operators of a component that such edges connect.
//  - A component must have a device that can run and hold it, and enough time on one device.
//  - Two components that together have no such device or time are on two devices: all edges between
//    them are cut.
//  - Shared devices and transfers on cut edges lengthen heads and tails, and with them the paths,
//    the intervals and all conclusions above.
// The latencies tried start at the best of the other bounds and rise while they are refuted;
// bisection then narrows the last step. Conclusions only become fewer with a larger T, but the
// proof does not use that: any refuted T is a bound.
//
// Every round recomputes all heads, so only graphs of up to kMostOperatorsRefuted are tried, in as
// many rounds as their size permits. A latency that is not refuted by then counts as possible.

namespace hios::scheduler {
namespace {

constexpr std::size_t kMostOperatorsRefuted = 700;

class Refutation {
 public:
  Refutation(const BoundGraph& graph, const TimeWindows& windows, const BoundContext& context,
             double latency_ms)
      : graph_(graph),
        windows_(windows),
        context_(context),
        device_(graph_, context),
        candidates_(graph_, context),
        components_(graph.size()),
        latency_ms_(latency_ms * (1 + kRounding)) {
    for (std::size_t v = 0; v < graph.size(); ++v) components_.connect(v, graph.colocation[v]);
  }

  /// Returns true if the latency is refuted. Uses up rounds, and returns false when none are left.
  bool refuted(std::size_t& rounds) {
    while (true) {
      const bool connected = connect_components();
      if (!components_fit()) return true;
      const bool narrowed = candidates_.narrow(graph_, windows_, latency_ms_);
      if (candidates_.any_without_device()) return true;
      if (candidates_.confined_ms(graph_, windows_) > latency_ms_) return true;
      const bool separated = separate_components();
      if (contradiction_) return true;
      if ((!connected && !separated && !narrowed) || rounds == 0 || context_.stopped())
        return false;
      --rounds;
      update_graph();
      if (windows_exceed_latency()) return true;
    }
  }

 private:
  bool connect_components() {
    bool changed = false;
    graph_.edges.change_inputs([&](const Arc& arc, std::size_t v) {
      if (!arc.may_share || components_.root(arc.other) == components_.root(v)) return;
      const double paid = windows_.head[arc.other] + graph_.path_ms[arc.other] + arc.transfer_ms +
                          graph_.path_ms[v] + windows_.tail[v];
      if (paid <= latency_ms_) return;
      components_.connect(arc.other, v);
      changed = true;
    });
    return changed;
  }

  bool components_fit() {
    members_ = components_.members();
    component_of_.resize(graph_.size());
    for (std::size_t component = 0; component < members_.size(); ++component) {
      for (std::uint32_t v : members_[component]) component_of_[v] = component;
      if (device_.shared_ms(members_[component], windows_) > latency_ms_) return false;
      candidates_.unite(members_[component]);
    }
    return true;
  }

  /// Cuts edges between components that cannot share a device; returns true if any is new.
  bool separate_components() {
    bool changed = false;
    graph_.edges.change_inputs([&](Arc& arc, std::size_t v) {
      const std::size_t a = component_of_[arc.other], b = component_of_[v];
      if (a == b) {
        contradiction_ = contradiction_ || !arc.may_share;
        return;
      }
      if (!arc.may_share) return;
      std::vector<std::uint32_t> both = members_[a];
      both.insert(both.end(), members_[b].begin(), members_[b].end());
      const bool may_share = candidates_.may_share(arc.other, v);
      if (may_share && device_.shared_ms(both, windows_) <= latency_ms_) return;
      arc.may_share = false;
      changed = true;
    });
    return changed;
  }

  /// Writes the conclusions into the graph and computes the new time windows.
  void update_graph() {
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      graph_.colocation[v] = members_[component_of_[v]].front();
    }
    graph_.edges.change_inputs([&](Arc& arc, std::size_t v) {
      if (component_of_[arc.other] == component_of_[v]) arc.transfer_ms = kInfinity;
    });
    graph_.edges.mirror();
    windows_ = time_windows(graph_, Contention::kAllDevices,
                            ancestor_limit(graph_.size(), graph_.edges.edges()));
  }

  bool windows_exceed_latency() const {
    return critical_path_ms(graph_, windows_) > latency_ms_ ||
           intervals_ms(graph_, windows_, context_) > latency_ms_;
  }

  BoundGraph graph_;
  TimeWindows windows_;
  const BoundContext& context_;
  OneDevice device_;
  CandidateDevices candidates_;
  ConnectedComponents components_;
  double latency_ms_;
  bool contradiction_ = false;
  std::vector<std::vector<std::uint32_t>> members_;  // by component
  std::vector<std::size_t> component_of_;            // by operator
};

}  // namespace

double destructive_ms(const BoundGraph& graph, const TimeWindows& windows,
                      const BoundContext& context, double known_ms) {
  constexpr double kFirstStep = 1.0 / 1024, kLargestStep = 1;
  constexpr int kHalvings = 5;
  if (graph.size() == 0 || graph.size() > kMostOperatorsRefuted || context.stopped()) return 0;
  const bool alike = graph.speeds.front() == graph.speeds.back();
  if (graph.edges.edges() == 0 && alike) return 0;
  std::size_t rounds = 2'000'000 / (graph.size() * graph.size());
  const auto refuted = [&](double latency_ms) {
    if (context.stopped()) return false;
    return Refutation(graph, windows, context, latency_ms).refuted(rounds);
  };
  double below = known_ms, step = kFirstStep;
  while (step <= kLargestStep && refuted(known_ms * (1 + step))) {
    below = known_ms * (1 + step);
    step *= 2;
  }
  double above = known_ms * (1 + step);
  for (int i = 0; i < kHalvings && below > known_ms; ++i) {
    const double middle = (below + above) / 2;
    (refuted(middle) ? below : above) = middle;
  }
  return below > known_ms ? below : 0;
}

}  // namespace hios::scheduler
