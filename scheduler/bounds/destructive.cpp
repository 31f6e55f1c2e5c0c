// Part of scheduler/bounds/bound_table.h: destructive_ms().

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "scheduler/bounds/bound_table.h"
#include "scheduler/bounds/relaxations/candidates.h"
#include "scheduler/bounds/relaxations/one_device.h"

// A destructive bound (R. Klein and A. Scholl, "Computing lower bounds by destructive
// improvement"): suppose that some schedule has a latency of at most T,
// and draw conclusions until one cannot be; then every latency is above T.
//  - A device that leaves an operator too late is not its place (candidates.h).
//  - An edge that cannot be paid for in time, head + share + transfer + share + tail > T, has both
//    ends on one device. So have all that such edges connect: a part.
//  - A part must have a device that can run and hold it, and time for it on one device.
//  - Two parts that together have not are on two devices: all edges between them are paid for.
//  - Shared devices and paid transfers make heads and tails longer, and with them all of this
//    again, the paths and the intervals.
// The latencies tried begin at the best of the other bounds and rise as long as they are refuted,
// then close in on the last. Conclusions only become fewer with a larger T; but no use is made of
// that: whatever T is refuted is a bound.
//
// Every round recomputes all heads, so only graphs of up to kMostOperators are tried, in as many
// rounds as their size permits; a latency that has not been refuted by then counts as possible.

namespace hios::scheduler {
namespace {

constexpr std::size_t kMostOperators = 700;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Supposition {
 public:
  Supposition(const BoundGraph& graph, const Windows& windows, const BoundContext& context,
              double latency_ms)
      : graph_(graph),
        windows_(windows),
        context_(context),
        device_(graph_, context),
        candidates_(graph_, context),
        parts_(graph.size()),
        latency_ms_(latency_ms * (1 + kRounding)) {
    for (std::size_t v = 0; v < graph.size(); ++v) parts_.connect(v, graph.home[v]);
  }

  /// Takes from `rounds` as many as it needs, and gives up when none are left.
  bool refuted(std::size_t& rounds) {
    while (true) {
      const bool connected = connect_parts();
      if (!parts_fit()) return true;
      const bool narrowed = candidates_.narrow(graph_, windows_, latency_ms_);
      if (candidates_.any_without()) return true;
      if (candidates_.confined_ms(graph_, windows_) > latency_ms_) return true;
      const bool parted = part_parts();
      if (contradiction_) return true;
      if ((!connected && !parted && !narrowed) || rounds == 0 || context_.stopped()) return false;
      --rounds;
      write_down();
      if (times_are_up()) return true;
    }
  }

 private:
  static constexpr double kRounding = 1e-9;

  bool connect_parts() {
    bool news = false;
    graph_.edges.change_inputs([&](const Arc& arc, std::size_t v) {
      if (!arc.may_share || parts_.root(arc.other) == parts_.root(v)) return;
      const double paid = windows_.head[arc.other] + graph_.path_ms[arc.other] + arc.transfer_ms +
                          graph_.path_ms[v] + windows_.tail[v];
      if (paid <= latency_ms_) return;
      parts_.connect(arc.other, v);
      news = true;
    });
    return news;
  }

  bool parts_fit() {
    members_ = parts_.members();
    part_of_.resize(graph_.size());
    for (std::size_t part = 0; part < members_.size(); ++part) {
      for (std::uint32_t v : members_[part]) part_of_[v] = part;
      if (device_.shared_ms(members_[part], windows_) > latency_ms_) return false;
      candidates_.unite(members_[part]);
    }
    return true;
  }

  /// Looks for edges between parts that cannot share a device.
  bool part_parts() {
    bool news = false;
    graph_.edges.change_inputs([&](Arc& arc, std::size_t v) {
      const std::size_t a = part_of_[arc.other], b = part_of_[v];
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
      news = true;
    });
    return news;
  }

  /// Puts what is known into the graph and finds the windows that follow.
  void write_down() {
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      graph_.home[v] = members_[part_of_[v]].front();
    }
    graph_.edges.change_inputs([&](Arc& arc, std::size_t v) {
      if (part_of_[arc.other] == part_of_[v]) arc.transfer_ms = kInfinity;
    });
    graph_.edges.mirror();
    windows_ = windows(graph_, Contention::kAllDevices,
                       ancestor_limit(graph_.size(), graph_.edges.edges()));
  }

  bool times_are_up() const {
    return critical_path_ms(graph_, windows_) > latency_ms_ ||
           intervals_ms(graph_, windows_, context_) > latency_ms_;
  }

  BoundGraph graph_;
  Windows windows_;
  const BoundContext& context_;
  OneDevice device_;
  Candidates candidates_;
  ConnectedParts parts_;
  double latency_ms_;
  bool contradiction_ = false;
  std::vector<std::vector<std::uint32_t>> members_;  // by part
  std::vector<std::size_t> part_of_;                 // by operator
};

}  // namespace

double destructive_ms(const BoundGraph& graph, const Windows& windows, const BoundContext& context,
                      double known_ms) {
  constexpr double kFirstStep = 1.0 / 1024, kLargestStep = 1;
  constexpr int kHalvings = 5;
  if (graph.size() == 0 || graph.size() > kMostOperators || context.stopped()) return 0;
  const bool alike = graph.speeds.front() == graph.speeds.back();
  if (graph.edges.edges() == 0 && alike) return 0;
  std::size_t rounds = 2'000'000 / (graph.size() * graph.size());
  const auto refuted = [&](double latency_ms) {
    if (context.stopped()) return false;
    return Supposition(graph, windows, context, latency_ms).refuted(rounds);
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
