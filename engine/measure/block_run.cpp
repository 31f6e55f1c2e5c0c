// The plan of a block is that of the second of three devices, of which the others have the
// operators before the block and after it. Its messages are removed, so that the block runs without
// other ranks. Tests: tests/engine/measure/warm_test.cpp.
#include "engine/measure/block_run.h"

#include <algorithm>
#include <cstring>

#include "engine/host/clock.h"

namespace hios {
namespace {

RankPlan plan_alone(const RankContext& rank, const NetworkBlock& block) {
  const auto order = rank.graph().topological();
  const auto stages = [&](std::size_t first, std::size_t end) {
    const auto some = order.subspan(first, end - first);
    return one_operator_stages({some.begin(), some.end()});
  };
  const std::size_t end = block.first + block.count;
  const Schedule schedule{
      {stages(0, block.first), stages(block.first, end), stages(end, order.size())}};
  RankPlan plan = plan_rank(rank.coarse, schedule, Rank(1));
  plan.rank = rank.transport.rank();
  plan.sends.clear();
  plan.receives.clear();
  std::erase_if(plan.steps,
                [](const Step& step) { return !std::holds_alternative<Compute>(step); });
  return plan;
}

/// Divides the order into blocks greedily: a new block starts wherever the last would hold more
/// than `most` bytes.
std::vector<NetworkBlock> filled(const Graph& graph, Bytes most) {
  std::vector<NetworkBlock> blocks;
  Bytes held = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Bytes bytes = graph.op(graph.topological()[i]).parameter_bytes;
    if (blocks.empty() || held + bytes > most) {
      blocks.push_back({i, 0});
      held = 0;
    }
    ++blocks.back().count;
    held += bytes;
  }
  return blocks;
}

}  // namespace

std::vector<NetworkBlock> blocks_by_weights(const Graph& graph, std::size_t most) {
  Bytes low = 0, high = 0;
  for (const Operator& op : graph.operators()) {
    low = std::max(low, op.parameter_bytes);
    high += op.parameter_bytes;
  }
  while (low < high) {
    const Bytes middle = low + (high - low) / 2;
    if (filled(graph, middle).size() <= most) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return filled(graph, high);
}

BlockRun::BlockRun(const RankContext& rank, const NetworkBlock& block)
    : backend_(rank.backend),
      plan_(plan_alone(rank, block)),
      progress_(plan_, rank.graph(), rank.transport.recorder()),
      bound_(rank, plan_, {progress_}) {}

void BlockRun::receive() {
  for (const Slot& slot : plan_.slots) {
    if (slot.received) std::memset(bound_.tensor(slot.op), 0, slot.size_bytes());
  }
}

double BlockRun::run(std::size_t i, void (*poll)(void*), void* poll_argument) {
  const BoundStage& stage = bound_.stages(0)[i];
  const Stopwatch stopwatch;
  backend_.run_stage(stage.groups, stage.shares, poll, poll_argument);
  return stopwatch.ms();
}

}  // namespace hios
