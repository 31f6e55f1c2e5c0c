#include "engine/run/position_text.h"

#include <variant>

#include "engine/run/step_text.h"

namespace hios {

std::string standing_text(std::size_t place, const StepProgress& progress,
                          const std::optional<DeviceStages>& device, const RankPlan& plan,
                          const Graph& graph) {
  if (place == StepProgress::kBetween) return kBetweenIterations;
  if (place == progress.end_of_messages()) return kEndOfMessages;
  if (place == progress.end_on_device()) {
    const std::string device_words = kEndOnDevice;
    if (!device || device->segments().empty()) return device_words;
    return device_words + ", given last " + describe(device->segments().back(), plan, graph);
  }
  const Step& step = plan.steps[place - 1];
  if (!device || !std::holds_alternative<Compute>(step)) return describe(step, plan, graph);
  for (const Segment& segment : device->segments()) {
    if (segment.first == place - 1) {
      return (device->blocking() ? "running " : "queueing ") + describe(segment, plan, graph);
    }
  }
  return describe(step, plan, graph);
}

std::string suspects_text(const std::optional<DeviceStages>& device, const RankPlan& plan,
                          const Graph& graph) {
  if (!device || device->blocking() || device->given().empty()) return {};
  return "; the device had been given " + by_stream(device->given(), plan, graph);
}

}  // namespace hios
