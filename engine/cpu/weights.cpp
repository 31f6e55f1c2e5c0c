#include "engine/cpu/weights.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/kernels/panels.h"
#include "engine/cpu/kernels/parallel.h"

namespace hios::cpu {
namespace {

constexpr std::size_t kLineFloats = 16;  // of a cache line

std::int64_t in_channels(const Layer& layer) { return layer.input_shapes.front().c; }

/// A layer's weights in ONNX order: the source's own, or drawn here.
class PlainWeights {
 public:
  PlainWeights(const Model& model, const Layer& layer, TensorSource& source)
      : values_(source.weights_in_memory(model, layer)) {
    const std::int64_t count = parameter_counts(layer.kind, layer.input_shapes).weights;
    if (count == 0 || !values_.empty()) return;
    drawn_.resize(static_cast<std::size_t>(count));
    source.weights(model, layer, drawn_);
    values_ = drawn_;
  }
  std::span<const float> values() const { return values_; }

 private:
  std::vector<float> drawn_;
  std::span<const float> values_;
};

/// Returns the bias, padded with zeros to `padded` values if it has fewer.
AlignedBytes drawn_bias(const Model& model, const Layer& layer, TensorSource& source,
                        std::size_t padded) {
  const auto count =
      static_cast<std::size_t>(parameter_counts(layer.kind, layer.input_shapes).bias);
  padded = std::max(padded, count);
  AlignedBytes bytes = aligned_bytes(padded * sizeof(float));
  std::span bias(reinterpret_cast<float*>(bytes.get()), padded);
  if (count > 0) source.bias(model, layer, bias.first(count));
  return bytes;
}

/// Returns G g Gᵀ for each window g, of all windows one position after the other.
std::vector<float> winograd_matrices(std::span<const float> windows) {
  constexpr std::size_t kSide = 6, kTaps = 3;
  constexpr double a = kWinogradNear, b = kWinogradFar;
  constexpr double by_zero = 1 / (a * a * b * b);
  constexpr double by_near = 1 / (2 * a * a * (a * a - b * b));
  constexpr double by_far = 1 / (2 * b * b * (b * b - a * a));
  constexpr double kG[kSide][kTaps] = {{by_zero, 0, 0},
                                       {by_near, a * by_near, a * a * by_near},
                                       {by_near, -a * by_near, a * a * by_near},
                                       {by_far, b * by_far, b * b * by_far},
                                       {by_far, -b * by_far, b * b * by_far},
                                       {0, 0, 1}};
  const std::size_t count = windows.size() / (kTaps * kTaps);
  std::vector<float> matrices(count * kSide * kSide);
  for (std::size_t w = 0; w < count; ++w) {
    const float* const window = windows.data() + w * kTaps * kTaps;
    for (std::size_t i = 0; i < kSide; ++i) {
      double row[kTaps] = {};
      for (std::size_t y = 0; y < kTaps; ++y) {
        for (std::size_t x = 0; x < kTaps; ++x) row[x] += kG[i][y] * window[y * kTaps + x];
      }
      for (std::size_t j = 0; j < kSide; ++j) {
        double sum = 0;
        for (std::size_t x = 0; x < kTaps; ++x) sum += row[x] * kG[j][x];
        matrices[(i * kSide + j) * count + w] = static_cast<float>(sum);
      }
    }
  }
  return matrices;
}

/// Returns the layout of weights as their source gives them.
dnnl::memory::desc plain_layout(const Layer& layer) {
  using Tag = dnnl::memory::format_tag;
  const auto layout = [&](const auto& conv, Tag plain, Tag grouped) {
    return dnnl::memory::desc(weight_dims(conv, in_channels(layer)), dnnl::memory::data_type::f32,
                              conv.groups == 1 ? plain : grouped);
  };
  if (const auto* transposed = std::get_if<ConvTranspose>(&layer.kind)) {
    return layout(*transposed, Tag::iohw, Tag::giohw);
  }
  return layout(std::get<Conv>(layer.kind), Tag::oihw, Tag::goihw);
}

}  // namespace

dnnl::memory::dims weight_dims(const Conv& conv, std::int64_t in_channels) {
  const std::int64_t h = conv.kernel.h, w = conv.kernel.w;
  if (conv.groups == 1) return {conv.out_channels, in_channels, h, w};
  return {conv.groups, conv.out_channels / conv.groups, in_channels / conv.groups, h, w};
}

dnnl::memory::dims weight_dims(const ConvTranspose& conv, std::int64_t in_channels) {
  return weight_dims(
      Conv{conv.out_channels, conv.kernel, conv.stride, conv.padding, conv.groups, conv.bias},
      in_channels);
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

std::size_t WeightsCache::size_bytes() const {
  std::size_t sum = 0;
  for (const auto& [key, layouts] : known_) {
    for (const auto& entry : layouts) {
      const auto packed = entry.lock();
      if (packed) sum += packed->size_bytes();
    }
  }
  return sum;
}

void WeightsCache::add_memory(const Model& model, const Layer& layer, const TensorSource& source,
                              std::vector<std::span<std::byte>>& memory) const {
  const auto found = known_.find({&source, &model, layer.name});
  if (found == known_.end()) return;
  for (const auto& entry : found->second) {
    const auto packed = entry.lock();
    if (!packed) continue;
    if (packed->weights_bytes > 0)
      memory.emplace_back(packed->weights.get(), packed->weights_bytes);
    if (packed->bias_bytes > 0) memory.emplace_back(packed->bias.get(), packed->bias_bytes);
  }
}

std::shared_ptr<const PackedWeights> WeightsCache::for_primitive(const Model& model,
                                                                 const Layer& layer,
                                                                 TensorSource& source,
                                                                 const dnnl::memory::desc& layout) {
  return find_or(model, layer, source, layout, [&](PackedWeights& packed) {
    const PlainWeights plain(model, layer, source);
    const auto biases =
        static_cast<std::size_t>(parameter_counts(layer.kind, layer.input_shapes).bias);
    packed.bias_bytes = biases * sizeof(float);
    if (biases > 0) packed.bias = drawn_bias(model, layer, source, 0);
    pack(plain_layout(layer), plain.values().data(), packed);
  });
}

/// Fills the packed weights by a reorder from their plain layout.
void WeightsCache::pack(const dnnl::memory::desc& plain, const float* values,
                        PackedWeights& packed) {
  packed.weights_bytes = packed.layout.get_size();
  packed.weights = slabs_.take(packed.weights_bytes);
  const ThreadCount one(1);
  // oneDNN takes no pointers to const; a reorder only reads what it is from.
  dnnl::memory from(plain, engine_, const_cast<float*>(values));
  dnnl::memory to(packed.layout, engine_, packed.weights.get());
  dnnl::stream stream(engine_);
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
}

std::shared_ptr<const PackedWeights> WeightsCache::for_winograd(const Model& model,
                                                                const Layer& layer,
                                                                TensorSource& source,
                                                                const dnnl::memory::desc& layout) {
  return find_or(model, layer, source, layout, [&](PackedWeights& packed) {
    const PlainWeights plain(model, layer, source);
    const std::int64_t in = in_channels(layer), out = std::get<Conv>(layer.kind).out_channels;
    packed.bias = drawn_bias(model, layer, source, static_cast<std::size_t>(out));
    packed.bias_bytes = static_cast<std::size_t>(out) * sizeof(float);
    const std::vector<float> matrices = winograd_matrices(plain.values());
    using Memory = dnnl::memory;
    pack({{kWinogradPositions, in, out}, Memory::data_type::f32, Memory::format_tag::acb},
         matrices.data(), packed);
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
    const PlainWeights held(model, layer, source);
    const std::span<const float> plain = held.values();
    packed.weights = slabs_.take(padded * taps * sizeof(float));
    packed.weights_bytes = padded * taps * sizeof(float);
    packed.bias_bytes = padded * sizeof(float);
    auto* weights = reinterpret_cast<float*>(packed.weights.get());
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t tap = 0; tap < taps; ++tap) {
        weights[(c / lanes * taps + tap) * lanes + c % lanes] = plain[c * taps + tap];
      }
    }
    packed.bias = drawn_bias(model, layer, source, padded);
  });
}

std::shared_ptr<const PackedWeights> WeightsCache::for_panels(const Model& model,
                                                              const Layer& layer,
                                                              TensorSource& source) {
  return find_or(model, layer, source, dnnl::memory::desc(), [&](PackedWeights& packed) {
    const auto lanes = static_cast<std::size_t>(kernels().lanes);
    const auto depth = static_cast<std::size_t>(in_channels(layer));
    const auto columns = static_cast<std::size_t>(std::get<Conv>(layer.kind).out_channels);
    const std::size_t padded = (columns + lanes - 1) / lanes * lanes;
    const PlainWeights held(model, layer, source);
    const float* const plain = held.values().data();
    packed.weights_bytes = padded * depth * sizeof(float);
    packed.weights = slabs_.take(packed.weights_bytes);
    auto* to = reinterpret_cast<float*>(packed.weights.get());
    const auto whole = static_cast<std::size_t>(panel_columns(static_cast<std::int64_t>(columns)));
    for (std::size_t first = 0; first < padded; first += whole) {
      const std::size_t width = std::min(whole, padded - first);
      const std::size_t used = std::min(width, columns - first);
      for (std::size_t k = 0; k < depth; k += kLineFloats) {  // reads each line once
        const std::size_t steps = std::min(kLineFloats, depth - k);
        for (std::size_t c = 0; c < used; ++c) {
          const float* const from = plain + (first + c) * depth + k;
          for (std::size_t step = 0; step < steps; ++step) to[step * width + c] = from[step];
        }
        to += steps * width;
      }
    }
    packed.bias_bytes = padded * sizeof(float);
    packed.bias = drawn_bias(model, layer, source, padded);
  });
}

std::shared_ptr<const PackedWeights> WeightsCache::for_own_loops(const Model& model,
                                                                 const Layer& layer,
                                                                 TensorSource& source) {
  return find_or(model, layer, source, dnnl::memory::desc(), [&](PackedWeights& packed) {
    const PlainWeights held(model, layer, source);
    const std::span<const float> plain = held.values();
    packed.weights = slabs_.take(plain.size() * sizeof(float));
    packed.weights_bytes = plain.size() * sizeof(float);
    auto biases = static_cast<std::size_t>(parameter_counts(layer.kind, layer.input_shapes).bias);
    auto* const weights = reinterpret_cast<float*>(packed.weights.get());
    if (const auto* conv = std::get_if<ConvTranspose>(&layer.kind)) {
      const auto taps = static_cast<std::size_t>(conv->kernel.h * conv->kernel.w);
      const std::size_t pairs = plain.size() / taps;  // one for each input and output channel
      for (std::size_t pair = 0; pair < pairs; ++pair) {
        for (std::size_t tap = 0; tap < taps; ++tap) {
          weights[tap * pairs + pair] = plain[pair * taps + tap];
        }
      }
      biases = std::max(biases, static_cast<std::size_t>(conv->out_channels));
    } else {
      std::ranges::copy(plain, weights);
    }
    packed.bias = drawn_bias(model, layer, source, biases);
    packed.bias_bytes = biases * sizeof(float);
  });
}

}  // namespace hios::cpu
