#include "engine/cpu/weights.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/kernels/parallel.h"

namespace hios::cpu {
namespace {

std::int64_t in_channels(const Model& model, const Layer& layer) {
  return model.tensor(layer.inputs.front()).shape.c;
}

/// In ONNX order.
std::vector<float> drawn_weights(const Model& model, const Layer& layer, TensorSource& source) {
  const Conv& conv = std::get<Conv>(layer.kind);
  std::vector<float> weights(
      static_cast<std::size_t>(conv.out_channels * (in_channels(model, layer) / conv.groups) *
                               conv.kernel.h * conv.kernel.w));
  source.weights(model, layer, weights);
  return weights;
}

/// `padded` values, zeros beyond the output channels.
AlignedBytes drawn_bias(const Model& model, const Layer& layer, TensorSource& source,
                        std::size_t padded) {
  AlignedBytes bytes = aligned_bytes(padded * sizeof(float));
  std::span bias(reinterpret_cast<float*>(bytes.get()), padded);
  const Conv& conv = std::get<Conv>(layer.kind);
  if (conv.bias) {
    source.bias(model, layer, bias.first(static_cast<std::size_t>(conv.out_channels)));
  }
  return bytes;
}

}  // namespace

dnnl::memory::dims weight_dims(const Conv& conv, std::int64_t in_channels) {
  const std::int64_t h = conv.kernel.h, w = conv.kernel.w;
  if (conv.groups == 1) return {conv.out_channels, in_channels, h, w};
  return {conv.groups, conv.out_channels / conv.groups, in_channels / conv.groups, h, w};
}

template <class Pack>
std::shared_ptr<const PackedWeights> WeightsCache::find_or(const Model& model, const Layer& layer,
                                                           TensorSource& source,
                                                           const dnnl::memory::desc& layout,
                                                           Pack&& pack) {
  auto& layouts = known_[{&source, &model, layer.name}];
  std::erase_if(layouts, [](const auto& entry) { return entry.expired(); });
  for (const auto& entry : layouts) {
    if (auto packed = entry.lock(); packed && packed->layout == layout) return packed;
  }
  auto packed = std::make_shared<PackedWeights>();
  packed->layout = layout;
  pack(*packed);
  layouts.push_back(packed);
  return packed;
}

std::shared_ptr<const PackedWeights> WeightsCache::for_primitive(const Model& model,
                                                                 const Layer& layer,
                                                                 TensorSource& source,
                                                                 const dnnl::memory::desc& layout) {
  return find_or(model, layer, source, layout, [&](PackedWeights& packed) {
    const Conv& conv = std::get<Conv>(layer.kind);
    std::vector<float> plain = drawn_weights(model, layer, source);
    packed.weights = aligned_bytes(layout.get_size());
    if (conv.bias) {
      packed.bias = drawn_bias(model, layer, source, static_cast<std::size_t>(conv.out_channels));
    }
    using Tag = dnnl::memory::format_tag;
    const dnnl::memory::desc plain_layout(weight_dims(conv, in_channels(model, layer)),
                                          dnnl::memory::data_type::f32,
                                          conv.groups == 1 ? Tag::oihw : Tag::goihw);
    const ThreadCount one(1);
    dnnl::memory from(plain_layout, engine_, plain.data());
    dnnl::memory to(layout, engine_, packed.weights.get());
    dnnl::stream stream(engine_);
    dnnl::reorder(from, to).execute(stream, from, to);
    stream.wait();
  });
}

std::shared_ptr<const PackedWeights> WeightsCache::for_window(const Model& model,
                                                              const Layer& layer,
                                                              TensorSource& source) {
  return find_or(model, layer, source, dnnl::memory::desc(), [&](PackedWeights& packed) {
    const Conv& conv = std::get<Conv>(layer.kind);
    const auto lanes = static_cast<std::size_t>(kernels().lanes);
    const auto channels = static_cast<std::size_t>(conv.out_channels);
    const auto taps = static_cast<std::size_t>(conv.kernel.h * conv.kernel.w);
    const std::size_t padded = (channels + lanes - 1) / lanes * lanes;
    const std::vector<float> plain = drawn_weights(model, layer, source);
    packed.weights = aligned_bytes(padded * taps * sizeof(float));
    auto* weights = reinterpret_cast<float*>(packed.weights.get());
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t tap = 0; tap < taps; ++tap) {
        weights[(c / lanes * taps + tap) * lanes + c % lanes] = plain[c * taps + tap];
      }
    }
    packed.bias = drawn_bias(model, layer, source, padded);
  });
}

}  // namespace hios::cpu
