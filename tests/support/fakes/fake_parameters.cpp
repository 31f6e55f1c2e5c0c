#include "support/fakes/fake_parameters.h"

#include <cstring>

#include "engine/backend/arena.h"
#include "hios/model/layer.h"

namespace hios::test {

// Parts outside the reserved memory are no neighbours of others: they end before their block does.
FakeParameters::Part FakeParameters::take(Bytes size_bytes, bool in_place,
                                          const Allocate& allocate) {
  std::shared_ptr<void> reserved = reserved_.lock();
  if (!in_place && to_reserve_ > 0) {
    left_ = std::exchange(to_reserve_, 0);
    std::tie(reserved, next_) = allocate(left_, false);
    reserved_ = reserved;
  }
  if (!in_place && reserved && size_bytes <= left_) {
    left_ -= size_bytes;
    return {reserved, {std::exchange(next_, next_ + size_bytes), size_bytes}};
  }
  auto [block, data] = allocate(size_bytes + kArenaAlignment, in_place);
  return {std::move(block), {data, size_bytes}};
}

std::shared_ptr<const FakeParameters::Parts> FakeParameters::get(const Operation& operation,
                                                                 TensorSource& source,
                                                                 const Allocate& allocate,
                                                                 const Write& write) {
  std::weak_ptr<const Parts>& known = known_[{&source, operation.model, operation.name}];
  if (auto parts = known.lock()) return parts;
  auto parts = std::make_shared<Parts>();
  const Model& model = *operation.model;
  const auto add = [&](const std::vector<float>& values) {
    if (values.empty()) return;
    std::vector<std::byte> bytes(aligned_size(values.size() * sizeof(float)));
    std::memcpy(bytes.data(), values.data(), values.size() * sizeof(float));
    parts->push_back(take(bytes.size(), source.in_host_memory(), allocate));
    write(parts->back().bytes.data(), bytes.data(), bytes.size());
  };
  for (const LayerId id : operation.layers->layers) {
    const Layer& layer = model.layer(id);
    const ParameterCounts counts = parameter_counts(layer.kind, layer.input_shapes);
    std::vector<float> weights(static_cast<std::size_t>(counts.weights));
    std::vector<float> bias(static_cast<std::size_t>(counts.bias));
    if (!weights.empty()) source.weights(model, layer, weights);
    if (!bias.empty()) source.bias(model, layer, bias);
    add(weights);
    add(bias);
  }
  known = parts;
  return parts;
}

std::vector<std::span<std::byte>> FakeParameters::memory(const Operation& operation,
                                                         const TensorSource& source) const {
  std::vector<std::span<std::byte>> memory;
  const auto found = known_.find({&source, operation.model, operation.name});
  const auto parts = found == known_.end() ? nullptr : found->second.lock();
  for (std::size_t i = 0; parts && i < parts->size(); ++i) memory.push_back((*parts)[i].bytes);
  return memory;
}

}  // namespace hios::test
