#include "scheduler/bounds/classes/assignment_rows.h"

#include <algorithm>
#include <utility>

#include "scheduler/structures/numbers.h"

// Let c be the number of devices of class k, and let a schedule take at most T.
//
//  - Work. Each device is busy for T at most, so the work shares of a class's operators sum to c·T
//    at most (graph/shares.cpp, 2). More generally, let J be operators whose heads on class k are
//    at least a and whose tails there are at least b. Those of J on a device of the class run in
//    [a, T − b], so their window shares sum to c·(T − a − b) at most (graph/shares.cpp, 3).
//    No work fits if a + b > T, which is c·(T − T).
//  - Memory. The operators of a class hold at most the memory of its c devices.
//  - Paths. Operators that follow each other take head + all path shares + transfers + tail <= T,
//    where shares, head and tail are those on their classes (classes/class_candidates.cpp). A
//    transfer depends on two classes, and a row has a coefficient for each. Let S be any set of
//    classes and t the least cost between two of them. An edge (u, v) takes at least t if u is in S
//    and v is not, and at least 0 otherwise; so it takes at least t·[u in S] − t·[v in S] in all
//    cases.
//
// Rows that a fractional assignment violates are found for it: the longest path, where S has the
// classes that have more of u than of v; and for each class the pair of a and b with the most work.
// Any choice gives rows that hold.

namespace hios::scheduler {
namespace {

constexpr std::size_t kMostRowsAdded = 48;
constexpr double kViolated = 1e-3;  // of the latency

/// Returns the least-cost part of an edge's transfer that a fractional assignment pays.
double paid_ms(const ClassCosts& costs, const ClassEdge& edge, std::span<const double> x) {
  if (edge.must_share || edge.least_ms <= 0) return 0;
  double moved = 0;
  for (std::size_t k = 0; k < costs.classes(); ++k) {
    moved += std::max(0.0, x[costs.cell(edge.from, k)] - x[costs.cell(edge.to, k)]);
  }
  return moved * edge.least_ms;
}

}  // namespace

AssignmentRows::AssignmentRows(const ClassCosts& costs) : costs_(costs) {
  for (std::size_t k = 0; k < costs.classes(); ++k) {
    sources_.push_back({0, loads_.size()});
    loads_.push_back({k, 0, 0});
    if (costs.capacity[k] == kInfinity) continue;
    sources_.push_back({1, memories_.size()});
    memories_.push_back(k);
  }
}

void AssignmentRows::refresh(const ClassCandidates& candidates, double latency_ms) {
  latency_ms_ = latency_ms;
  rows_.clear();
  for (const Source& source : sources_) {
    if (source.kind == 0) {
      rows_.push_back(load_row(loads_[source.index], candidates));
    } else if (source.kind == 1) {
      rows_.push_back(memory_row(memories_[source.index], candidates));
    } else {
      rows_.push_back(path_row(paths_[source.index], candidates));
    }
  }
}

AssignmentRow AssignmentRows::load_row(const Load& load, const ClassCandidates& candidates) const {
  const std::size_t k = load.k;
  const bool all = load.after_ms <= 0 && load.before_ms <= 0;
  AssignmentRow row{costs_.count[k],
                    -costs_.count[k] * std::min(latency_ms_, load.after_ms + load.before_ms),
                    {}};
  for (std::size_t v = 0; v < costs_.operators; ++v) {
    if (!candidates.may_be(v, k)) continue;
    const std::size_t cell = costs_.cell(v, k);
    if (all) {
      row.entries.push_back(
          {static_cast<std::uint32_t>(v), static_cast<std::uint32_t>(k), costs_.work_ms[cell]});
    } else if (candidates.head(v, k) >= load.after_ms && candidates.tail(v, k) >= load.before_ms) {
      row.entries.push_back(
          {static_cast<std::uint32_t>(v), static_cast<std::uint32_t>(k), costs_.window_ms[cell]});
    }
  }
  return row;
}

/// Bytes are divided by those of the class, so that multipliers are times.
AssignmentRow AssignmentRows::memory_row(std::size_t k, const ClassCandidates& candidates) const {
  const double room = costs_.capacity[k] * costs_.count[k];
  AssignmentRow row{0, 1, {}};
  for (std::size_t v = 0; v < costs_.operators; ++v) {
    if (!candidates.may_be(v, k)) continue;
    row.entries.push_back(
        {static_cast<std::uint32_t>(v), static_cast<std::uint32_t>(k), costs_.bytes[v] / room});
  }
  return row;
}

AssignmentRow AssignmentRows::path_row(const Path& path, const ClassCandidates& candidates) const {
  AssignmentRow row{1, 0, {}};
  const auto add = [&](std::size_t i, std::size_t k) {
    const std::uint32_t v = path.operators[i];
    double sum = costs_.path_ms[costs_.cell(v, k)];
    if (i == 0) sum += candidates.head(v, k);
    if (i + 1 == path.operators.size()) {
      sum += candidates.tail(v, k);
    } else if ((path.senders[i] >> k & 1) != 0) {
      sum += path.edges[i]->least_ms;
    }
    if (i > 0 && (path.senders[i - 1] >> k & 1) != 0) sum -= path.edges[i - 1]->least_ms;
    row.entries.push_back({v, static_cast<std::uint32_t>(k), sum});
  };
  for (std::size_t i = 0; i < path.operators.size(); ++i) {
    for (std::size_t k = 0; k < costs_.classes(); ++k) {
      if (candidates.may_be(path.operators[i], k)) add(i, k);
    }
  }
  return row;
}

bool AssignmentRows::add_violated(std::span<const double> x, const ClassCandidates& candidates,
                                  double latency_ms) {
  const std::size_t before = sources_.size();
  add_path(x, candidates, latency_ms);
  for (std::size_t k = 0; k < costs_.classes(); ++k) add_load(k, x, candidates, latency_ms);
  return sources_.size() > before;
}

bool AssignmentRows::add_path(std::span<const double> x, const ClassCandidates& candidates,
                              double latency_ms) {
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  if (paths_.size() >= kMostRowsAdded) return false;
  const auto mean = [&](std::size_t v, auto of) {
    double sum = 0;
    for (std::size_t k = 0; k < costs_.classes(); ++k) {
      if (candidates.may_be(v, k)) sum += x[costs_.cell(v, k)] * of(v, k);
    }
    return sum;
  };
  const auto head = [&](std::size_t v, std::size_t k) { return candidates.head(v, k); };
  const auto tail = [&](std::size_t v, std::size_t k) { return candidates.tail(v, k); };
  const auto share = [&](std::size_t v, std::size_t k) {
    return costs_.path_ms[costs_.cell(v, k)];
  };
  std::vector<double> start(costs_.operators);
  std::vector<std::size_t> by(costs_.operators, kNone);  // the edge of the longest path
  for (std::size_t v = 0; v < costs_.operators; ++v) start[v] = mean(v, head);
  std::size_t e = 0, last = 0;
  double longest = 0;
  for (std::size_t v = 0; v < costs_.operators; ++v) {
    for (; e < costs_.edges.size() && costs_.edges[e].to == v; ++e) {
      const ClassEdge& edge = costs_.edges[e];
      const double here = start[edge.from] + paid_ms(costs_, edge, x);
      if (here <= start[v]) continue;
      start[v] = here;
      by[v] = e;
    }
    const double end = start[v] + mean(v, share);
    if (end + mean(v, tail) > longest) {
      longest = end + mean(v, tail);
      last = v;
    }
    start[v] = end;  // from here on the end: edges from v follow
  }
  if (longest <= latency_ms * (1 + kViolated)) return false;
  Path path;
  for (std::size_t v = last;; v = costs_.edges[by[v]].from) {
    path.operators.push_back(static_cast<std::uint32_t>(v));
    if (by[v] == kNone) break;
    const ClassEdge& edge = costs_.edges[by[v]];
    ClassCandidates::Set senders = 0;
    for (std::size_t k = 0; k < costs_.classes() && !edge.must_share; ++k) {
      if (x[costs_.cell(edge.from, k)] > x[costs_.cell(edge.to, k)]) {
        senders |= ClassCandidates::Set{1} << k;
      }
    }
    path.edges.push_back(&edge);
    path.senders.push_back(senders);
  }
  std::reverse(path.operators.begin(), path.operators.end());
  std::reverse(path.edges.begin(), path.edges.end());
  std::reverse(path.senders.begin(), path.senders.end());
  sources_.push_back({2, paths_.size()});
  rows_.push_back(path_row(path, candidates));
  paths_.push_back(std::move(path));
  return true;
}

bool AssignmentRows::add_load(std::size_t k, std::span<const double> x,
                              const ClassCandidates& candidates, double latency_ms) {
  constexpr std::size_t kStarts = 12;
  if (loads_.size() >= costs_.classes() + kMostRowsAdded) return false;
  struct Part {
    double head, tail, work;
  };
  std::vector<Part> parts;
  for (std::size_t v = 0; v < costs_.operators; ++v) {
    const std::size_t cell = costs_.cell(v, k);
    if (!candidates.may_be(v, k) || x[cell] < 1e-4) continue;
    parts.push_back({candidates.head(v, k), candidates.tail(v, k),
                     x[cell] * costs_.window_ms[cell] / costs_.count[k]});
  }
  if (parts.empty()) return false;
  std::vector<double> starts;
  for (const Part& part : parts) starts.push_back(part.head);
  std::sort(starts.begin(), starts.end());
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return a.tail > b.tail; });
  Load load{k, 0, 0};
  double longest = latency_ms * (1 + kViolated);
  for (std::size_t i = 0; i < kStarts; ++i) {
    const double after = starts[i * starts.size() / kStarts];
    double work = 0;
    for (const Part& part : parts) {
      if (part.head < after) continue;
      work += part.work;
      if (work + after + part.tail <= longest) continue;
      longest = work + after + part.tail;
      load = {k, after, part.tail};
    }
  }
  if (load.after_ms <= 0 && load.before_ms <= 0) return false;  // there from the beginning
  sources_.push_back({0, loads_.size()});
  rows_.push_back(load_row(load, candidates));
  loads_.push_back(load);
  return true;
}

}  // namespace hios::scheduler
