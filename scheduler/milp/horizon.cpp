#include "scheduler/milp/horizon.h"

#include <algorithm>
#include <map>
#include <string>

#include "scheduler/structures/numbers.h"

namespace hios::scheduler::milp {
Horizon::Horizon(const Graph& graph, const CostModel& costs, double latency_ms,
                 const Surroundings* around)
    : graph_(&graph),
      costs_(&costs),
      latency_ms_(latency_ms * (1 + kRounding)),
      devices_(costs.platform().size()),
      ops_(graph.topological().begin(), graph.topological().end()),
      position_(graph.size()) {
  for (std::size_t v = 0; v < ops_.size(); ++v) position_[ops_[v].index()] = v;
  find_leaders();
  find_arcs();
  find_allowed_devices();
  do {
    compute_heads(around);
    compute_tails(around);
  } while (narrow());
}

double Horizon::time_ms(std::size_t v, std::size_t d) const {
  return costs_->operator_ms(ops_[v], DeviceId(d));
}

double Horizon::transfer_ms(const Arc& arc, std::size_t from, std::size_t to) const {
  double largest = 0;
  for (EdgeId edge : arc.edges) {
    largest = std::max(largest, costs_->transfer_ms(edge, DeviceId(from), DeviceId(to)));
  }
  return largest;
}

void Horizon::find_leaders() {
  std::map<std::string, std::size_t> first;
  for (std::size_t v = 0; v < ops_.size(); ++v) {
    const std::string& label = graph_->op(ops_[v]).colocate;
    leader_.push_back(label.empty() ? v : first.try_emplace(label, v).first->second);
  }
}

void Horizon::find_arcs() {
  const std::size_t n = ops_.size();
  reach_.assign(n * n, false);
  in_.resize(n);
  out_.resize(n);
  for (std::size_t v = 0; v < n; ++v) {
    std::map<std::size_t, std::vector<EdgeId>> inputs;
    for (EdgeId edge : graph_->in_edges(ops_[v])) {
      inputs[position(graph_->edge(edge).from)].push_back(edge);
    }
    for (auto& [u, edges] : inputs) {
      in_[v].push_back(arcs_.size());
      out_[u].push_back(arcs_.size());
      arcs_.push_back({u, v, std::move(edges)});
      reach_[u * n + v] = true;
      for (std::size_t a = 0; a < u; ++a) {
        if (reach_[a * n + u]) reach_[a * n + v] = true;
      }
    }
  }
}

/// Finds the devices that labels, times by device and the memory of one device allow.
void Horizon::find_allowed_devices() {
  const std::size_t n = ops_.size();
  std::vector<double> held(n, 0);  // by leader
  for (std::size_t v = 0; v < n; ++v) {
    const Operator& op = graph_->op(ops_[v]);
    held[leader_[v]] +=
        static_cast<double>(op.memory_bytes) + static_cast<double>(op.parameter_bytes);
  }
  may_run_.assign(n * devices_, 1);
  for (std::size_t v = 0; v < n; ++v) {
    for (std::size_t d = 0; d < devices_; ++d) {
      const auto limit = costs_->platform().device(DeviceId(d)).memory_bytes;
      const bool fits = limit == 0 || held[leader_[v]] <= static_cast<double>(limit);
      if (!fits || !costs_->can_run(ops_[v], DeviceId(d))) may_run_[leader_[v] * devices_ + d] = 0;
    }
  }
  for (std::size_t v = 0; v < n; ++v) {
    for (std::size_t d = 0; d < devices_; ++d) {
      may_run_[v * devices_ + d] = may_run_[leader_[v] * devices_ + d];
    }
  }
}

void Horizon::compute_heads(const Surroundings* around) {
  head_.clear();
  for (std::size_t v = 0; v < ops_.size(); ++v) {
    for (std::size_t d = 0; d < devices_; ++d) head_.push_back(costs_->launch_ms(DeviceId(d)));
  }
  if (around != nullptr) head_ = around->head_ms;
  for (std::size_t v = 0; v < ops_.size(); ++v) {
    for (std::size_t d = 0; d < devices_; ++d) {
      double& head = head_[v * devices_ + d];
      for (std::size_t a : in_[v]) {
        const std::size_t u = arcs_[a].from;
        double least = kInfinity;
        for (std::size_t from = 0; from < devices_; ++from) {
          if (!may_run(u, from) || (leader_[u] == leader_[v] && from != d)) continue;
          least =
              std::min(least, head_ms(u, from) + time_ms(u, from) + transfer_ms(arcs_[a], from, d));
        }
        head = std::max(head, least);
      }
    }
  }
}

void Horizon::compute_tails(const Surroundings* around) {
  tail_.assign(ops_.size() * devices_, 0);
  if (around != nullptr) tail_ = around->tail_ms;
  for (std::size_t v = ops_.size(); v-- > 0;) {
    for (std::size_t d = 0; d < devices_; ++d) {
      double& tail = tail_[v * devices_ + d];
      for (std::size_t a : out_[v]) {
        const std::size_t w = arcs_[a].to;
        double least = kInfinity;
        for (std::size_t to = 0; to < devices_; ++to) {
          if (!may_run(w, to) || (leader_[w] == leader_[v] && to != d)) continue;
          least = std::min(least, transfer_ms(arcs_[a], d, to) + time_ms(w, to) + tail_ms(w, to));
        }
        tail = std::max(tail, least);
      }
    }
  }
}

/// Excludes devices on which an operator would be too late. Returns true if it excluded any.
bool Horizon::narrow() {
  bool narrowed = false;
  for (std::size_t v = 0; v < ops_.size(); ++v) {
    for (std::size_t d = 0; d < devices_; ++d) {
      if (!may_run(v, d)) continue;
      if (head_ms(v, d) + time_ms(v, d) + tail_ms(v, d) <= latency_ms_) continue;
      for (std::size_t w = 0; w < ops_.size(); ++w) {
        if (leader_[w] == leader_[v]) may_run_[w * devices_ + d] = 0;
      }
      narrowed = true;
    }
  }
  return narrowed;
}

double Horizon::head_ms(std::size_t v) const {
  double least = kInfinity;
  for (std::size_t d = 0; d < devices_; ++d) {
    if (may_run(v, d)) least = std::min(least, head_ms(v, d));
  }
  return least;
}

double Horizon::tail_ms(std::size_t v) const {
  double least = kInfinity;
  for (std::size_t d = 0; d < devices_; ++d) {
    if (may_run(v, d)) least = std::min(least, tail_ms(v, d));
  }
  return least;
}

double Horizon::time_ms(std::size_t v) const {
  double least = kInfinity;
  for (std::size_t d = 0; d < devices_; ++d) {
    if (may_run(v, d)) least = std::min(least, time_ms(v, d));
  }
  return least;
}

bool Horizon::may_follow(std::size_t a, std::size_t b, std::size_t d) const {
  if (!may_run(a, d) || !may_run(b, d) || precedes(b, a)) return false;
  return head_ms(a, d) + time_ms(a, d) + time_ms(b, d) + tail_ms(b, d) <= latency_ms_;
}

bool Horizon::infeasible() const {
  for (std::size_t v = 0; v < ops_.size(); ++v) {
    bool any = false;
    for (std::size_t d = 0; d < devices_; ++d) any = any || may_run(v, d);
    if (!any) return true;
  }
  return false;
}

}  // namespace hios::scheduler::milp
