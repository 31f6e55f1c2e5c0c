#include "engine/job/input_source.h"

#include <algorithm>

namespace hios::job {

void InputSource::weights(const Model& model, const Layer& layer, std::span<float> out) {
  seeded_.weights(model, layer, out);
}
std::span<const float> InputSource::weights_in_memory(const Model& model,
                                                      const Layer& layer) const {
  return seeded_.weights_in_memory(model, layer);
}
void InputSource::forget(const Model& model, const Layer& layer) {
  if (forgets_) model.forget_weights(layer);
}
void InputSource::bias(const Model& model, const Layer& layer, std::span<float> out) {
  seeded_.bias(model, layer, out);
}
void InputSource::input(const Model& model, std::span<float> out) { numbered_input(model, 0, out); }
void InputSource::numbered_input(const Model& model, std::size_t number, std::span<float> out) {
  if (number > 0 || given_.empty()) return seeded_.numbered_input(model, number, out);
  std::ranges::copy(given_, out.begin());
}

void OneInput::weights(const Model& model, const Layer& layer, std::span<float> out) {
  source_.weights(model, layer, out);
}
void OneInput::bias(const Model& model, const Layer& layer, std::span<float> out) {
  source_.bias(model, layer, out);
}
void OneInput::input(const Model& model, std::span<float> out) {
  source_.numbered_input(model, number_, out);
}

}  // namespace hios::job
