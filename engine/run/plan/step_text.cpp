#include "engine/run/plan/step_text.h"

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
    if (!text.empty()) text += " | ";
    for (const OpId op : group) text += (op == group.front() ? "" : ", ") + graph.op(op).name;
  }
  return text;
}

/// Returns the stages of a segment, in order.
std::vector<std::size_t> stages_of(const Segment& segment, const RankPlan& plan) {
  std::vector<std::size_t> stages;
  for (std::size_t step = segment.first; step < segment.end; ++step) {
    const auto* const compute = std::get_if<Compute>(&plan.steps[step]);
    if (compute) stages.push_back(compute->stage);
  }
  return stages;
}

/// Returns "conv_1, conv_2, conv_3 … pool_9 (14 operators)".
std::string shortened(const std::vector<OpId>& operators, const Graph& graph) {
  constexpr std::size_t kShown = 4;
  std::string text;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const bool shown = operators.size() <= kShown || i + 1 < kShown || i + 1 == operators.size();
    if (!shown) continue;
    const bool gap = operators.size() > kShown && i + 1 == operators.size();
    text += (text.empty() ? "" : gap ? " … " : ", ") + graph.op(operators[i]).name;
  }
  if (operators.size() > kShown) text += " (" + std::to_string(operators.size()) + " operators)";
  return text;
}

}  // namespace

const PlannedMessage* message_of(const Step& step, const RankPlan& plan) {
  if (const auto* s = std::get_if<AwaitReceive>(&step)) return &plan.receives[s->receive];
  if (const auto* s = std::get_if<AwaitSend>(&step)) return &plan.sends[s->send];
  if (const auto* s = std::get_if<StartSend>(&step)) return &plan.sends[s->send];
  return nullptr;
}

std::string describe(const PlannedLoad& load, const Graph& graph) {
  std::string text = graph.op(load.readers.front()).name;
  if (load.from) text += " from rank " + std::to_string(load.from->index());
  if (load.baton) text += " after a load of rank " + std::to_string(load.baton->index());
  return text + " (" + std::to_string(load.size_bytes) + " bytes)";
}

std::string describe(const Step& step, const RankPlan& plan, const Graph& graph) {
  const auto with = [&](const PlannedMessage& message, const char* preposition) {
    return graph.op(message.op).name + preposition + "rank " +
           std::to_string(message.peer.index()) + " (" + std::to_string(message.size_bytes()) +
           " bytes)";
  };
  return std::visit(
      Overloaded{
          [&](const AwaitReceive& s) {
            const PlannedMessage& message = plan.receives[s.receive];
            return "waiting for " + with(message, " from ") + ", which stage " +
                   std::to_string(s.stage) + " needs: " + operators_of(plan.stages[s.stage], graph);
          },
          [&](const AwaitSend& s) {
            return "waiting for the send of " + with(plan.sends[s.send], " to ");
          },
          [&](const AwaitLoad& s) {
            const PlannedLoad& load = plan.lanes[s.lane][s.load];
            return "waiting for load " + std::to_string(load.index) + " of lane " +
                   std::to_string(load.lane) + ", the parameters of " + describe(load, graph) +
                   ", which stage " + std::to_string(s.stage) + " needs";
          },
          [&](const AwaitOtherLoads& s) {
            return "waiting for the loads of all ranks, which stage " + std::to_string(s.stage) +
                   " needs";
          },
          [&](const Evict& s) {
            const PlannedEviction& eviction = plan.evictions[s.eviction];
            return "evicting the parameters of " + graph.op(eviction.readers.front()).name + " (" +
                   std::to_string(eviction.size_bytes) + " bytes)";
          },
          [&](const StartSend& s) { return "sending " + with(plan.sends[s.send], " to "); },
          [&](const Compute& s) {
            return "stage " + std::to_string(s.stage) + ": " +
                   operators_of(plan.stages[s.stage], graph);
          },
      },
      step);
}

std::string steps_text(const RankPlan& plan, const Graph& graph) {
  std::string text;
  for (const Step& step : plan.steps) {
    text += "  " + describe(step, plan, graph) + "\n";
  }
  return text;
}

std::string describe(const Segment& segment, const RankPlan& plan, const Graph& graph) {
  const std::vector<std::size_t> stages = stages_of(segment, plan);
  const std::size_t first = stages.front(), last = stages.back();
  if (first == last) return describe(Step(Compute{first}), plan, graph);
  return "stages " + std::to_string(first) + " to " + std::to_string(last) + ": " +
         operators_of(plan.stages[first], graph) + " … " + operators_of(plan.stages[last], graph);
}

std::string by_stream(std::span<const Segment> given, const RankPlan& plan, const Graph& graph) {
  std::vector<std::vector<OpId>> streams;
  for (const Segment& segment : given) {
    for (const std::size_t s : stages_of(segment, plan)) {
      const Stage& stage = plan.stages[s];
      if (streams.size() < stage.groups.size()) streams.resize(stage.groups.size());
      for (std::size_t g = 0; g < stage.groups.size(); ++g) {
        streams[g].insert(streams[g].end(), stage.groups[g].begin(), stage.groups[g].end());
      }
    }
  }
  std::string text;
  for (std::size_t s = 0; s < streams.size(); ++s) {
    text += (s == 0 ? "stream " : "; stream ") + std::to_string(s) + ": " +
            shortened(streams[s], graph);
  }
  return text;
}

}  // namespace hios
