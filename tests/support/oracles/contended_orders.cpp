#include "support/oracles/contended_orders.h"

#include <algorithm>
#include <vector>

// Every schedule can be given in the order of time: the operator or the transfer that starts next,
// as early as it can. So the search appends one of them at a time, and none that would start before
// the last one: that schedule is given in another order. A transfer that nobody uses only delays.

namespace hios::test {
namespace {

constexpr double kNotYet = std::numeric_limits<double>::infinity();

class OrderSearch {
 public:
  OrderSearch(const Graph& graph, const Platform& platform, const PlainCosts& costs,
              double below_ms)
      : graph_(graph),
        platform_(platform),
        costs_(costs),
        best_ms_(below_ms),
        end_(graph.size(), kNotYet),
        device_(graph.size(), 0),
        tail_(graph.size(), 0),
        arrived_(graph.size(), std::vector<double>(platform.size(), kNotYet)) {
    const std::size_t devices = platform.size();
    for (std::size_t d = 0; d < devices; ++d) free_.push_back(costs.launch_ms(DeviceId(d)));
    const bool ports = platform.contention() == Contention::kPort;
    busy_.assign(ports ? 2 * devices : devices * devices, 0);
    const auto order = graph.topological();
    for (std::size_t i = order.size(); i-- > 0;) {
      double rest = 0;
      for (EdgeId e : graph.out_edges(order[i])) {
        rest = std::max(rest, tail_[graph.edge(e).to.index()]);
      }
      double least = kNotYet;
      for (std::size_t d = 0; d < devices; ++d) least = std::min(least, time(order[i], d));
      tail_[order[i].index()] = least + rest;
    }
  }

  double run() {
    const double below_ms = best_ms_;
    append(0, 0);
    return best_ms_ < below_ms ? best_ms_ : kNotYet;
  }

 private:
  double time(OpId op, std::size_t d) const { return costs_.stage_ms(Stage{{{op}}}, DeviceId(d)); }
  bool done(OpId op) const { return end_[op.index()] < kNotYet; }

  void append(std::size_t count, double last_ms) {
    if (count == graph_.size()) {
      best_ms_ = std::min(best_ms_, *std::max_element(end_.begin(), end_.end()));
      return;
    }
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      for (std::size_t d = 0; d < platform_.size(); ++d) {
        if (done(OpId(i))) {
          send(count, last_ms, OpId(i), d);
        } else {
          execute(count, last_ms, OpId(i), d);
        }
      }
    }
  }

  void execute(std::size_t count, double last_ms, OpId op, std::size_t d) {
    double start = free_[d];
    for (EdgeId e : graph_.in_edges(op)) {
      const std::size_t from = graph_.edge(e).from.index();
      start = std::max(start, device_[from] == d ? end_[from] : arrived_[from][d]);
    }
    if (start == kNotYet || start < last_ms) return;
    const double end = start + time(op, d), rest = tail_[op.index()];
    if (std::max(end, start + rest) >= best_ms_) return;
    const double free = free_[d];
    free_[d] = end_[op.index()] = end;
    device_[op.index()] = d;
    append(count + 1, start);
    free_[d] = free;
    end_[op.index()] = kNotYet;
  }

  void send(std::size_t count, double last_ms, OpId op, std::size_t d) {
    const std::size_t from = device_[op.index()];
    double& arrived = arrived_[op.index()][d];
    if (from == d || arrived < kNotYet) return;
    double takes = kNotYet, rest = kNotYet;
    for (EdgeId e : graph_.out_edges(op)) {
      const Edge& edge = graph_.edge(e);
      if (done(edge.to)) continue;
      takes = costs_.transfer_ms(edge, DeviceId(from), DeviceId(d));
      rest = std::min(rest, tail_[edge.to.index()]);
    }
    if (takes == kNotYet) return;  // nobody waits for it
    double& one = busy_[channel(from, d, true)];
    double& other = busy_[channel(from, d, false)];
    const double start = std::max({end_[op.index()], one, other});
    const double there = start + takes + costs_.launch_ms(DeviceId(d));
    if (start < last_ms || there + rest >= best_ms_) return;
    const double before = one, before_other = other;
    arrived = there;
    one = other = start + takes;
    append(count, start);
    one = before;
    other = before_other;
    arrived = kNotYet;
  }

  std::size_t channel(std::size_t from, std::size_t to, bool sending) const {
    if (platform_.contention() == Contention::kLink) return from * platform_.size() + to;
    return sending ? from : platform_.size() + to;
  }

  const Graph& graph_;
  const Platform& platform_;
  const PlainCosts& costs_;
  double best_ms_;
  std::vector<double> end_;                   // by operator; kNotYet: not yet
  std::vector<std::size_t> device_;           // by operator
  std::vector<double> tail_;                  // by operator: the longest path from its start
  std::vector<std::vector<double>> arrived_;  // by operator and device
  std::vector<double> free_;                  // by device
  std::vector<double> busy_;                  // by link or port
};

}  // namespace

double least_contended_ms(const Graph& graph, const Platform& platform, const PlainCosts& costs,
                          double below_ms) {
  return OrderSearch(graph, platform, costs, below_ms).run();
}

}  // namespace hios::test
