#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"

namespace hios::scheduler::split {

/// An operator of a subproblem and its restrictions there.
struct Member {
  OpId op;
  std::optional<DeviceId> device =
      {};             ///< the only device it may use; absent: as in the whole graph
  bool free = false;  ///< takes no time and no memory
};

/// Some operators of a graph as a problem of their own. It has the edges between them and the whole
/// graph's times, transfers, labels and memory, less the bytes that others hold. Devices are the
/// whole graph's, in their order, with one stream; links do not contend. Equal subproblems have
/// equal keys, wherever they are in the whole graph.
class Subproblem {
 public:
  /// `members` in topological order, each once. `held`: bytes of each device that other operators
  /// hold; empty: none.
  Subproblem(const CostModel& whole, std::vector<Member> members, std::span<const Bytes> held = {});

  Subproblem(const Subproblem&) = delete;
  Subproblem& operator=(const Subproblem&) = delete;

  std::size_t size() const { return members_.size(); }
  /// Returns false where an operator has no device; then graph and costs are empty.
  bool possible() const { return costs_.has_value(); }
  const Graph& graph() const { return graph_; }
  const CostModel& costs() const { return *costs_; }
  /// Returns the whole graph's operator.
  OpId whole(OpId op) const { return members_[op.index()].op; }
  /// Returns a text of all facts that determine a schedule's latency.
  const std::string& key() const { return key_; }

 private:
  void add_operator(const CostModel& whole, const Member& member);
  void add_edges(const CostModel& whole, std::span<const std::optional<OpId>> numbers);
  void limit_memory(const CostModel& whole, std::span<const Bytes> held);
  void note(double value);

  std::vector<Member> members_;
  std::vector<Operator> operators_;
  std::vector<Edge> edges_;
  std::vector<Device> devices_;
  std::vector<std::string> labels_;  ///< in the order of their first use
  bool possible_ = true;
  std::string key_;
  Graph graph_;
  Platform platform_;
  std::optional<CostModel> costs_;
};

}  // namespace hios::scheduler::split
