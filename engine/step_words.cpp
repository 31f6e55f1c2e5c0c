#include "engine/step_words.h"

#include <variant>

namespace hios {
namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

std::string operators_of(const Stage& stage, const Graph& graph) {
  std::string text;
  for (const Group& group : stage.groups) {
    for (const OpId op : group) text += (text.empty() ? "" : ", ") + graph.op(op).name;
  }
  return text;
}

}  // namespace

std::string describe(const Step& step, const RankPlan& plan, const Graph& graph) {
  const auto with = [&](const PlannedMessage& message, const char* preposition) {
    return graph.op(message.op).name + preposition + "rank " + std::to_string(message.peer.index());
  };
  return std::visit(
      Overloaded{
          [&](const AwaitReceive& s) {
            return "waiting for " + with(plan.receives[s.receive], " from ");
          },
          [&](const AwaitSend& s) {
            return "waiting for the send of " + with(plan.sends[s.send], " to ");
          },
          [&](const StartSend& s) { return "sending " + with(plan.sends[s.send], " to "); },
          [&](const Compute& s) {
            return "stage " + std::to_string(s.stage) + ": " +
                   operators_of(plan.stages[s.stage], graph);
          },
      },
      step);
}

std::string describe(const Segment& segment, const RankPlan& plan, const Graph& graph) {
  const Step& first = plan.steps[segment.first];
  const Step& last = plan.steps[segment.end - 1];
  if (segment.end - segment.first == 1) return describe(first, plan, graph);
  return "stages " + std::to_string(stage_of(first)) + " to " + std::to_string(stage_of(last)) +
         ": " + operators_of(plan.stages[stage_of(first)], graph) + " … " +
         operators_of(plan.stages[stage_of(last)], graph);
}

}  // namespace hios
