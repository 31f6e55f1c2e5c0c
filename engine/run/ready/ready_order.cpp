// Blocks are cut from the plan's steps: the waits before a stage, the stage, and its sends. The
// blocks that can run are kept in a sorted list, so that the earliest is found first; it is short,
// since most stages follow others. Cost: linear in edges for the blocks, and for each block that
// ends linear in the list.
//
// Tests: tests/engine/run/ready/ready_order_test.cpp (random orders of all ranks, followed byte by
// byte), ready_executor_test.cpp (ranks that run so).
#include "engine/run/ready/ready_order.h"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>

namespace hios {
namespace {

/// Cuts one plan.
class BlockCutter {
 public:
  BlockCutter(const RankPlan& plan, const Graph& graph)
      : plan_(plan), graph_(graph), stage_of_(graph.size(), SIZE_MAX) {
    for (std::size_t s = 0; s < plan.stages.size(); ++s) {
      for (const Group& group : plan.stages[s].groups) {
        for (const OpId op : group) stage_of_[op.index()] = s;
      }
    }
  }

  std::vector<ReadyBlock> cut() && {
    for (std::size_t step = 0, first = 0; step < plan_.steps.size(); first = step) {
      while (is_wait(plan_.steps[step])) ++step;
      ReadyBlock block{.first = first, .run = step, .end = step + 1};
      const auto* const evict = std::get_if<Evict>(&plan_.steps[step]);
      block.is_stage = evict == nullptr;
      for (++step; step < plan_.steps.size() && is_send(plan_.steps[step]); ++step) ++block.end;
      if (block.is_stage) block_of_stage_.push_back(blocks_.size());
      blocks_.push_back(std::move(block));
      before_.clear();
      if (evict) {
        add_eviction(plan_.evictions[evict->eviction]);
      } else {
        add_stage(stage_of(plan_.steps[blocks_.back().run]));
      }
      join();
    }
    return std::move(blocks_);
  }

 private:
  static bool is_send(const Step& step) { return std::holds_alternative<StartSend>(step); }

  void add_stage(std::size_t stage) {
    for (const Group& group : plan_.stages[stage].groups) {
      for (const OpId op : group) {
        for (const EdgeId edge : graph_.in_edges(op)) {
          const std::size_t from = stage_of_[graph_.edge(edge).from.index()];
          if (from != SIZE_MAX && from != stage) before_.push_back(block_of_stage_.at(from));
        }
      }
    }
  }

  void add_eviction(const PlannedEviction& eviction) {
    before_.push_back(block_of_stage_.at(eviction.stage));
    for (const OpId op : eviction.readers) {
      const std::size_t stage = stage_of_[op.index()];
      if (stage < block_of_stage_.size()) before_.push_back(block_of_stage_[stage]);
    }
  }

  /// Adds the last block to those that it follows.
  void join() {
    std::ranges::sort(before_);
    before_.erase(std::unique(before_.begin(), before_.end()), before_.end());
    blocks_.back().follows = before_.size();
    for (const std::size_t block : before_) blocks_[block].followers.push_back(blocks_.size() - 1);
  }

  const RankPlan& plan_;
  const Graph& graph_;
  std::vector<std::size_t> stage_of_;        // by OpId; SIZE_MAX: not here
  std::vector<std::size_t> block_of_stage_;  // of the stages so far
  std::vector<std::size_t> before_;          // the blocks that the last one follows
  std::vector<ReadyBlock> blocks_;
};

}  // namespace

std::vector<ReadyBlock> ready_order(const RankPlan& plan, const Graph& graph) {
  if (!plan.any_order) throw std::logic_error("any order of a plan that has its own");
  return BlockCutter(plan, graph).cut();
}

OpenBlocks::OpenBlocks(std::span<const ReadyBlock> blocks) : blocks_(blocks) {
  left_.reserve(blocks.size());
  open_.reserve(blocks.size());
}

void OpenBlocks::begin() {
  left_.clear();
  open_.clear();
  stages_ = 0;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    left_.push_back(blocks_[i].follows);
    if (left_.back() == 0) open_.push_back(i);
    if (blocks_[i].is_stage) ++stages_;
  }
}

void OpenBlocks::end(std::size_t block) {
  open_.erase(std::ranges::lower_bound(open_, block));
  if (blocks_[block].is_stage) --stages_;
  for (const std::size_t follower : blocks_[block].followers) {
    if (--left_[follower] == 0) open_.insert(std::ranges::lower_bound(open_, follower), follower);
  }
}

}  // namespace hios
