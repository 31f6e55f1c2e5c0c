// The plan of a part is that of a device among three: what comes before, the part, what follows.
// Its messages are left out, so that the part runs without anybody else. Tests:
// tests/engine/measure/warm_test.cpp.
#include "engine/measure/block_run.h"

#include <algorithm>
#include <cstring>

namespace hios {
namespace {

RankPlan plan_alone(const ProfilerContext& context, const NetworkPart& part) {
  const auto order = context.coarse.graph.topological();
  const auto stages = [&](std::size_t first, std::size_t end) {
    const auto some = order.subspan(first, end - first);
    return one_operator_stages({some.begin(), some.end()});
  };
  const std::size_t end = part.first + part.count;
  const Schedule schedule{
      {stages(0, part.first), stages(part.first, end), stages(end, order.size())}};
  RankPlan plan = plan_rank(context.coarse, schedule, Rank(1));
  plan.rank = context.transport.rank();
  plan.sends.clear();
  plan.receives.clear();
  std::erase_if(plan.steps,
                [](const Step& step) { return !std::holds_alternative<Compute>(step); });
  return plan;
}

/// The parts of a walk that begins a new one wherever the old one would hold more than `most`.
std::vector<NetworkPart> filled(const Graph& graph, Bytes most) {
  std::vector<NetworkPart> parts;
  Bytes held = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Bytes bytes = graph.op(graph.topological()[i]).parameter_bytes;
    if (parts.empty() || held + bytes > most) {
      parts.push_back({i, 0});
      held = 0;
    }
    ++parts.back().count;
    held += bytes;
  }
  return parts;
}

}  // namespace

std::vector<NetworkPart> parts_by_weights(const Graph& graph, std::size_t parts) {
  Bytes least = 0, most = 0;
  for (const Operator& op : graph.operators()) {
    least = std::max(least, op.parameter_bytes);
    most += op.parameter_bytes;
  }
  while (least < most) {
    const Bytes middle = least + (most - least) / 2;
    if (filled(graph, middle).size() <= parts) {
      most = middle;
    } else {
      least = middle + 1;
    }
  }
  return filled(graph, most);
}

BlockRun::BlockRun(const ProfilerContext& context, const NetworkPart& part)
    : backend_(context.backend),
      plan_(plan_alone(context, part)),
      progress_(plan_, context.coarse.graph, context.transport.recorder()),
      bound_(context.coarse, context.model, plan_, context.backend, context.source, {progress_}) {}

void BlockRun::receive() {
  for (const Slot& slot : plan_.slots) {
    if (slot.received) std::memset(bound_.tensor(slot.op), 0, slot.size_bytes);
  }
}

double BlockRun::run(std::size_t i, void (*poll)(void*), void* poll_argument) {
  const BoundStage& stage = bound_.stages(0)[i];
  const Stopwatch stopwatch;
  backend_.run_stage(stage.groups, stage.shares, poll, poll_argument);
  return stopwatch.ms();
}

}  // namespace hios
