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

/// An operator in a piece, and what is asked of it there.
struct Member {
  OpId op;
  std::optional<DeviceId> device = {};  ///< where it has to run; absent: as in the whole
  bool free = false;                    ///< takes no time and no memory
};

/// Some operators of a graph as a problem of their own: the edges between them, the whole's times,
/// transfers, labels and memory, less what others hold. Devices are the whole's, in their order, of
/// one stream; links do not contend. Equal pieces have equal keys, wherever in the whole they
/// stand.
class Piece {
 public:
  /// `members` in topological order, each once. `held`: bytes of each device that others have
  /// taken; empty: none.
  Piece(const CostModel& whole, std::vector<Member> members, std::span<const Bytes> held = {});

  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;

  std::size_t size() const { return members_.size(); }
  /// False where an operator has no device: then there are no graph and no costs.
  bool possible() const { return costs_.has_value(); }
  const Graph& graph() const { return graph_; }
  const CostModel& costs() const { return *costs_; }
  OpId whole(OpId op) const { return members_[op.index()].op; }
  /// All that a schedule's latency follows from.
  const std::string& key() const { return key_; }

 private:
  void add_operator(const CostModel& whole, const Member& member);
  void add_edges(const CostModel& whole, std::span<const std::optional<OpId>> places);
  void limit_memory(const CostModel& whole, std::span<const Bytes> held);
  void note(double value);

  std::vector<Member> members_;
  std::vector<Operator> operators_;
  std::vector<Edge> edges_;
  std::vector<Device> devices_;
  std::vector<std::string> labels_;  ///< in the order in which they come
  bool possible_ = true;
  std::string key_;
  Graph graph_;
  Platform platform_;
  std::optional<CostModel> costs_;
};

}  // namespace hios::scheduler::split
