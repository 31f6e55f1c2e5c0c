#include "scheduler/pipeline/bounds/programs/boundary_windows.h"

#include <algorithm>
#include <cmath>

#include "scheduler/structures/numbers.h"

namespace hios::scheduler::pipeline {
namespace {

/// Returns, by vertex, all its predecessors (or successors) and itself.
std::vector<std::vector<Vertex>> closures(const PipelineProblem& problem, bool before) {
  std::vector<std::vector<Vertex>> all(problem.size());
  std::vector<Vertex> order = problem.given_order();
  if (!before) std::reverse(order.begin(), order.end());
  std::vector<Vertex> seen(problem.size(), 0);
  for (const Vertex v : order) {
    const PipelineVertex& vertex = problem.vertices()[v];
    std::vector<Vertex>& own = all[v];
    own.push_back(v);
    seen[v] = v + 1;
    for (const Vertex next : before ? vertex.predecessors : vertex.successors) {
      for (const Vertex each : all[next]) {
        if (seen[each] == v + 1) continue;
        seen[each] = v + 1;
        own.push_back(each);
      }
    }
  }
  return all;
}

/// The sides of one boundary, to which vertices are added.
class Boundary {
 public:
  Boundary(const LeastCosts& costs, const std::vector<std::vector<Vertex>>& before,
           const std::vector<std::vector<Vertex>>& after, double before_ms, double after_ms,
           LeastCosts::Overflow before_overflow, LeastCosts::Overflow after_overflow)
      : costs_(costs),
        halves_{Half{&before, before_ms, before_overflow, Side::kBefore},
                Half{&after, after_ms, after_overflow, Side::kAfter}},
        sides_(costs.size(), Side::kOpen) {}

  /// Adds vertices until nothing changes; returns false if both sides together cannot hold all.
  bool settle() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
        const Half& half = halves_[which];
        if (taken_ms(half, {}) > half.capacity_ms) return false;
        for (Vertex v = 0; v < costs_.size(); ++v) {
          if (sides_[v] != Side::kOpen || taken_ms(half, (*half.closure)[v]) <= half.capacity_ms)
            continue;
          const Half& other = halves_[1 - which];
          for (const Vertex each : (*other.closure)[v]) {
            if (sides_[each] == half.side) return false;
            sides_[each] = other.side;
          }
          changed = true;
        }
      }
    }
    return true;
  }

  std::vector<Side> take() { return std::move(sides_); }

 private:
  struct Half {
    const std::vector<std::vector<Vertex>>* closure;
    double capacity_ms;
    LeastCosts::Overflow overflow;
    Side side;
  };

  /// Returns the least time of the blocks on a side if they hold those vertices, too.
  double taken_ms(const Half& half, const std::vector<Vertex>& more) {
    inside_.assign(costs_.size(), false);
    for (Vertex v = 0; v < costs_.size(); ++v) inside_[v] = sides_[v] == half.side;
    for (const Vertex v : more) inside_[v] = true;
    double ms = 0, parameters = 0;
    for (Vertex v = 0; v < costs_.size(); ++v) {
      if (!inside_[v]) continue;
      ms += costs_.work_ms()[v];
      parameters += static_cast<double>(costs_.problem().vertices()[v].parameters);
    }
    ms += std::max(0.0, parameters - half.overflow.bytes) * half.overflow.ms_per_byte;
    return ms + (half.side == Side::kBefore ? sent_ms() : received_ms());
  }

  double sent_ms() const {
    double ms = 0;
    for (const PipelineTensor& tensor : costs_.problem().tensors()) {
      if (inside_[tensor.producer] && std::ranges::any_of(tensor.consumers, [&](Vertex consumer) {
            return sides_[consumer] == Side::kAfter;
          })) {
        ms += tensor.ms;
      }
    }
    return ms * costs_.charge().send;
  }

  double received_ms() const {
    double ms = 0;
    for (const PipelineTensor& tensor : costs_.problem().tensors()) {
      if (sides_[tensor.producer] == Side::kBefore &&
          std::ranges::any_of(tensor.consumers,
                              [&](Vertex consumer) { return inside_[consumer]; })) {
        ms += tensor.ms;
      }
    }
    return ms * costs_.charge().receive;
  }

  const LeastCosts& costs_;
  Half halves_[2];
  std::vector<Side> sides_;
  std::vector<bool> inside_;
};

}  // namespace

BoundaryWindows boundary_windows(const LeastCosts& costs, double period_ms) {
  BoundaryWindows windows;
  const std::size_t blocks = costs.devices();
  if (!std::isfinite(period_ms)) {
    windows.sides.assign(blocks - 1, std::vector<Side>(costs.size(), Side::kOpen));
    return windows;
  }
  const auto before = closures(costs.problem(), true), after = closures(costs.problem(), false);
  const double slack_ms = kRounding * (period_ms + costs.total_work_ms());
  for (std::size_t b = 1; b < blocks; ++b) {
    Boundary boundary(costs, before, after, period_ms * static_cast<double>(b) + slack_ms,
                      period_ms * static_cast<double>(blocks - b) + slack_ms, costs.overflow_of(b),
                      costs.overflow_of(blocks - b));
    if (!boundary.settle()) windows.impossible = true;
    windows.sides.push_back(boundary.take());
  }
  return windows;
}

}  // namespace hios::scheduler::pipeline
