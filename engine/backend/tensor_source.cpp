// Weights that keep a network's values in scale, computed without running the network.
//
// Idea: a convolution's weights are independent random values with mean zero. So for any input its
// output has mean zero and the second moment (fan-in) x (variance of a weight) x (second moment of
// the input). The variance of a weight is chosen to make that product one. The input's moment is
// computed through relus, pools, sums and concats by a rule each (`moments_after`), from the
// convolutions before them, whose moment is one. This is He's initialisation, extended to the other
// layers of modern networks. From layer to layer, a perturbation neither grows (fp32 would differ
// from the reference) nor vanishes (a wrong operator would not be noticed).
//
// The rules are estimates where values are correlated (pools, sums of related tensors), and errors
// multiply over hundreds of layers. tests/engine/backend/tensor_source_test.cpp checks that the
// scale of every operator of the four networks is between bounds, and that no output is constant.
//
// The same bits everywhere: whole numbers, and additions, multiplications, divisions and square
// roots, which IEEE 754 rounds in one way. This file is compiled without contraction to fused
// operations (see CMakeLists.txt).
#include "engine/backend/tensor_source.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/numbers/random.h"

namespace hios {
namespace {

constexpr double kBiasVariance = 0.01;        ///< its share of an output's second moment of one
constexpr int kPartsOfDraw = 4;               ///< values out of one 64-bit draw
constexpr double kPartRange = 65536;          ///< an odd part is within ±(kPartRange − 1)
constexpr double kUniformVariance = 1.0 / 3;  ///< the variance of a uniform value in (−1, 1)

/// Returns an odd number within ±65535, from 16 of the 64 bits: symmetric about zero, never zero.
std::int32_t odd_part(std::uint64_t draw, int part) {
  return 2 * static_cast<std::int16_t>(draw >> (16 * part)) + 1;
}

/// Fills with independent uniform values of mean zero and the given variance.
void fill(Random random, double variance, std::span<float> out) {
  const float scale = static_cast<float>(std::sqrt(variance / kUniformVariance) / kPartRange);
  std::size_t i = 0;
  for (; i + kPartsOfDraw <= out.size(); i += kPartsOfDraw) {
    const std::uint64_t draw = random.next();
    for (int part = 0; part < kPartsOfDraw; ++part) {
      out[i + part] = static_cast<float>(odd_part(draw, part)) * scale;
    }
  }
  const std::uint64_t draw = random.next();
  for (int part = 0; i < out.size(); ++i, ++part) {
    out[i] = static_cast<float>(odd_part(draw, part)) * scale;
  }
}

/// The expected moments of a tensor's values, over channels and pixels.
struct Moments {
  double mean = 0;
  double second = 1;  ///< mean of the squares
  double variance() const { return second - mean * mean; }
};

/// Returns the number of a window's taps inside the image, on average over the windows.
double mean_taps(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                 std::int64_t padding) {
  std::int64_t taps = 0;
  for (std::int64_t o = 0; o < out; ++o) {
    for (std::int64_t k = 0; k < kernel; ++k) {
      const std::int64_t i = o * stride + k - padding;
      taps += i >= 0 && i < in ? 1 : 0;
    }
  }
  return static_cast<double>(taps) / static_cast<double>(out);
}

template <class Windowed>
double mean_taps(const Windowed& layer, const Shape& in, const Shape& out) {
  return mean_taps(in.h, out.h, layer.kernel.h, layer.stride.h, layer.padding.begin.h) *
         mean_taps(in.w, out.w, layer.kernel.w, layer.stride.w, layer.padding.begin.w);
}

/// Returns the moments after an average over pixels, which keeps the half of a tensor's variance
/// that is between channels.
Moments after_average(const Moments& in, double taps) {
  const double variance = in.variance() * (0.5 + 0.5 / taps);
  return {in.mean, in.mean * in.mean + variance};
}

/// Neighbours are similar: the maximum of some taps is about one deviation above the mean.
Moments after_maximum(const Moments& in, double taps) {
  if (taps <= 1) return in;
  const double mean = in.mean + std::sqrt(in.variance());
  return {mean, mean * mean + in.variance()};
}

/// Returns the moments after a relu: half of the values of mean zero become 0; values after a relu
/// or a maximum hardly change.
Moments after_relu(const Moments& in) {
  constexpr double kTwoPi = 6.283185307179586;
  if (in.mean > 0) return in;
  return {std::sqrt(in.second / kTwoPi), in.second / 2};
}

Moments after_sum(std::span<const Moments> in) {
  double mean = 0, variance = 0;
  for (const Moments& term : in) {
    mean += term.mean;
    variance += term.variance();
  }
  return {mean, mean * mean + variance};
}

Moments after_concat(std::span<const Moments> in, std::span<const Shape> shapes,
                     std::int64_t channels) {
  Moments result{0, 0};
  for (std::size_t i = 0; i < in.size(); ++i) {
    const double share = static_cast<double>(shapes[i].c) / static_cast<double>(channels);
    result.mean += share * in[i].mean;
    result.second += share * in[i].second;
  }
  return result;
}

/// Returns the moments after a binary operation, where a constant operand is about one (see
/// SeededSource::weights).
Moments after_binary(const Binary& binary, std::span<const Moments> in) {
  const Moments other = binary.constant ? Moments{1, 1} : in[1];
  switch (binary.function) {
    case Binary::Function::kAdd:
      return after_sum(std::array{in[0], other});
    case Binary::Function::kSub:
      return after_sum(std::array{in[0], Moments{-other.mean, other.second}});
    case Binary::Function::kMul:
      return {in[0].mean * other.mean, in[0].second * other.second};
    default:
      return in[0];
  }
}

/// The moments of a layer's output, by kind of layer.
struct MomentsAfter {
  std::span<const Moments> in;
  std::span<const Shape> shapes;
  const Shape& out;
  Moments operator()(const Conv&) const { return {0, 1}; }
  Moments operator()(const Pool& pool) const {
    const double taps = mean_taps(pool, shapes[0], out);
    return pool.kind == Pool::Kind::kMax ? after_maximum(in[0], taps) : after_average(in[0], taps);
  }
  Moments operator()(const GlobalAveragePool&) const {
    return after_average(in[0], static_cast<double>(shapes[0].h * shapes[0].w));
  }
  Moments operator()(const Relu&) const { return after_relu(in[0]); }
  Moments operator()(const Sum&) const { return after_sum(in); }
  Moments operator()(const Concat& concat) const {
    return concat.axis == Axis::kC ? after_concat(in, shapes, out.c) : in[0];
  }
  Moments operator()(const ConvTranspose&) const { return {0, 1}; }
  Moments operator()(const Normalization&) const { return {0, 1}; }
  Moments operator()(const MatMul&) const {
    return {0, in[0].second * in[1].second * static_cast<double>(shapes[0].c)};
  }
  Moments operator()(const Binary& binary) const { return after_binary(binary, in); }
  Moments operator()(const Gather& gather) const { return gather.table ? Moments{0, 1} : in[1]; }
  Moments operator()(const TopK& top) const {
    const auto last = static_cast<double>(shapes[0].c - 1);
    return top.positions ? Moments{last / 2, std::max(1.0, last * last / 3)} : in[0];
  }
  /// Layers that keep the scale of values, or nearly so.
  Moments operator()(const auto&) const { return in[0]; }
};

Moments moments_after(const LayerKind& kind, std::span<const Moments> in,
                      std::span<const Shape> shapes, const Shape& out) {
  return std::visit(MomentsAfter{in, shapes, out}, kind);
}

/// Returns the expected second moment of a tensor: one pass over the layers before it.
double expected_second_moment(const Model& model, TensorId wanted) {
  std::vector<Moments> of_tensor(model.tensors().size());  // the model's input keeps the default
  std::vector<Moments> in;
  for (const Layer& layer : model.layers()) {
    if (wanted == model.input()) break;
    in.clear();
    for (const TensorId id : layer.inputs) in.push_back(of_tensor[id.index()]);
    of_tensor[layer.output.index()] =
        moments_after(layer.kind, in, layer.input_shapes, model.tensor(layer.output).shape);
    if (layer.output == wanted) break;
  }
  return of_tensor[wanted.index()].second;
}

Random stream(std::uint64_t seed, const std::string& name, std::string_view what) {
  return Random(seed, name + "/" + std::string(what));
}

/// Writes an image: the sum of patches of 1, 4, 16 and 64 pixels, each size with a quarter of the
/// variance. Independent pixels alone would be averaged out before the end of a network, for which
/// all images would then look the same.
void draw_image(std::uint64_t seed, const std::string& name, const std::string& of_input,
                const Shape& shape, std::span<float> out) {
  constexpr std::array<int, 4> kPatchShifts = {0, 2, 4, 6};
  const float scale = static_cast<float>(
      std::sqrt(1 / (kUniformVariance * static_cast<double>(kPatchShifts.size()))) / kPartRange);
  std::vector<std::int32_t> sums(out.size());
  for (const int shift : kPatchShifts) {
    const std::int64_t rows = ((shape.h - 1) >> shift) + 1, columns = ((shape.w - 1) >> shift) + 1;
    std::vector<std::int32_t> patches(static_cast<std::size_t>(shape.n * rows * columns * shape.c));
    Random random = stream(seed, name, "patches of " + std::to_string(1 << shift) + of_input);
    for (std::int32_t& patch : patches) patch = odd_part(random.next(), 0);
    std::size_t next = 0;
    for (std::int64_t n = 0; n < shape.n; ++n) {
      for (std::int64_t h = 0; h < shape.h; ++h) {
        for (std::int64_t w = 0; w < shape.w; ++w) {
          const std::int64_t patch = (n * rows + (h >> shift)) * columns + (w >> shift);
          for (std::int64_t c = 0; c < shape.c; ++c) sums[next++] += patches[patch * shape.c + c];
        }
      }
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(sums[i]) * scale;
}

/// Writes an image, or whole numbers below `below` where that is not 0.
void draw_input(std::uint64_t seed, const std::string& name, const std::string& of_input,
                const Shape& shape, std::int64_t below, std::span<float> out) {
  if (below == 0) return draw_image(seed, name, of_input, shape, out);
  Random random = stream(seed, name, "numbers" + of_input);
  for (float& value : out)
    value = static_cast<float>(random.below(static_cast<std::uint64_t>(below)));
}

/// Returns the shape in which one of several inputs is drawn; of fewer or more than four extents,
/// an image of one row.
Shape shape_of(const NamedInput& input, const InputPlace& place) {
  const std::vector<std::int64_t>& dims = input.dims;
  if (dims.size() == 4) return {dims[0], dims[1], dims[2], dims[3]};
  const std::int64_t last = dims.size() > 1 ? dims.back() : 1;
  return {place.rows, last, 1, place.count / last};
}

/// Copies the model's own values. Returns false if it has none.
bool copy_own(const Model& model, const std::string& name,
              std::vector<float> ModelWeights::Values::*part, std::span<float> out) {
  if (model.weights() == nullptr) return false;
  const ModelWeights::Values* values = model.weights()->find(name);
  if (values == nullptr || (values->*part).size() != out.size()) {
    throw RunError("the model has other weights for " + name + " than the layer needs");
  }
  std::ranges::copy(values->*part, out.begin());
  return true;
}

/// Calls draw(name, values) for each convolution that was merged into the layer, values in order of
/// output channels; for any other layer once, with all values.
template <class Draw>
void each_member(const Layer& layer, std::span<float> out, Draw&& draw) {
  if (layer.merged.empty()) return draw(layer.name, out);
  const auto channels = std::get<Conv>(layer.kind).out_channels;
  const std::size_t of_channel = out.size() / static_cast<std::size_t>(channels);
  for (const MergedConvolution& member : layer.merged) {
    const std::size_t count = static_cast<std::size_t>(member.channels) * of_channel;
    draw(member.name, out.first(count));
    out = out.subspan(count);
  }
}

/// Writes a layer's parameters out of those of its origin, which draw(layer, values) writes: those
/// of its channels. They are the first axis of a convolution's weights, the last of a constant.
template <class Draw>
void from_origin(const Model& model, const Layer& layer, std::int64_t ParameterCounts::*part,
                 std::span<float> out, Draw&& draw) {
  const Layer& origin = model.whole()->layer(*layer.origin);
  const ParameterCounts counts = parameter_counts(origin.kind, origin.input_shapes);
  std::vector<float> all(static_cast<std::size_t>(counts.*part));
  if (all.size() == out.size()) return draw(origin, out);
  draw(origin, all);
  const auto first = static_cast<std::size_t>(layer.range->begin);
  const auto channels = static_cast<std::size_t>(layer.range->count());
  const std::size_t of_channel = out.size() / channels;
  if (std::holds_alternative<Conv>(layer.kind)) {
    std::ranges::copy(std::span(all).subspan(first * of_channel, out.size()), out.begin());
    return;
  }
  const std::size_t all_channels = all.size() / of_channel;
  for (std::size_t i = 0; i < of_channel; ++i) {
    std::ranges::copy(std::span(all).subspan(i * all_channels + first, channels),
                      out.begin() + static_cast<std::ptrdiff_t>(i * channels));
  }
}

}  // namespace

void SeededSource::weights(const Model& model, const Layer& layer, std::span<float> out) {
  // A shard's image is smaller, and the variance of its weights is the whole's all the same.
  if (layer.origin) {
    return from_origin(model, layer, &ParameterCounts::weights, out,
                       [&](const Layer& origin, std::span<float> values) {
                         weights(*model.whole(), origin, values);
                       });
  }
  if (model.weights() != nullptr) {
    return each_member(layer, out, [&](const std::string& name, std::span<float> values) {
      copy_own(model, name, &ModelWeights::Values::weights, values);
    });
  }
  const Shape& in = layer.input_shapes.front();
  double fan_in = 0;
  bool bias = false;
  if (const auto* conv = std::get_if<Conv>(&layer.kind)) {
    fan_in = mean_taps(*conv, in, model.tensor(layer.output).shape) *
             static_cast<double>(in.c / conv->groups);
    bias = conv->bias;
  } else if (const auto* transposed = std::get_if<ConvTranspose>(&layer.kind)) {
    fan_in = static_cast<double>(in.c / transposed->groups * transposed->kernel.h *
                                 transposed->kernel.w) /
             static_cast<double>(transposed->stride.h * transposed->stride.w);
    bias = transposed->bias;
  } else if (const auto* binary = std::get_if<Binary>(&layer.kind);
             binary != nullptr && binary->function == Binary::Function::kPow) {
    std::ranges::fill(out, 2.0f);  // an exponent that every value has a power with
    return;
  } else if (std::holds_alternative<Gather>(layer.kind)) {
    return fill(stream(seed_, layer.name, "weights"), 1, out);
  } else {  // scales and other operands: about one
    fill(stream(seed_, layer.name, "weights"), kBiasVariance, out);
    for (float& value : out) value += 1;
    return;
  }
  const double wanted = bias ? 1 - kBiasVariance : 1;
  const double incoming = expected_second_moment(model, layer.inputs.front());
  // With large strides and a small image, every window may be in the padding.
  const double variance = fan_in > 0 ? wanted / (fan_in * incoming) : 0;
  // The variance is that of all merged convolutions: they differ in their output's channels only.
  each_member(layer, out, [&](const std::string& name, std::span<float> values) {
    fill(stream(seed_, name, "weights"), variance, values);
  });
}

std::span<const float> SeededSource::weights_in_memory(const Model& model,
                                                       const Layer& layer) const {
  if (layer.origin || !layer.merged.empty() || model.weights() == nullptr) return {};
  const ModelWeights::Values* const values = model.weights()->find(layer.name);
  const auto count = parameter_counts(layer.kind, layer.input_shapes).weights;
  if (values == nullptr || static_cast<std::int64_t>(values->weights.size()) != count) return {};
  return values->weights;
}

void SeededSource::bias(const Model& model, const Layer& layer, std::span<float> out) {
  if (layer.origin) {
    return from_origin(model, layer, &ParameterCounts::bias, out,
                       [&](const Layer& origin, std::span<float> values) {
                         bias(*model.whole(), origin, values);
                       });
  }
  each_member(layer, out, [&](const std::string& name, std::span<float> values) {
    if (copy_own(model, name, &ModelWeights::Values::bias, values)) return;
    fill(stream(seed_, name, "bias"), kBiasVariance, values);
  });
}

void SeededSource::input(const Model& model, std::span<float> out) {
  numbered_input(model, 0, out);
}

void SeededSource::numbered_input(const Model& model, std::size_t number, std::span<float> out) {
  const std::span<const NamedInput> inputs = model.named_inputs();
  const Tensor& tensor = model.tensor(model.input());
  const std::string of_input = number == 0 ? "" : " of input " + std::to_string(number);
  if (inputs.size() == 1) {
    return draw_input(seed_, tensor.name, of_input, tensor.shape, inputs.front().below, out);
  }
  const std::vector<InputPlace> places = places_of(inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const InputPlace& place = places[i];
    std::vector<float> values(static_cast<std::size_t>(place.rows * place.count));
    draw_input(seed_, tensor.name + " " + std::to_string(i), of_input, shape_of(inputs[i], place),
               inputs[i].below, values);
    put(values, place, out);
  }
}

ModelWeights::Values values_of(TensorSource& source, const Model& model, const Layer& layer) {
  const ParameterCounts counts = parameter_counts(layer.kind, layer.input_shapes);
  ModelWeights::Values values;
  values.weights.resize(static_cast<std::size_t>(counts.weights));
  values.bias.resize(static_cast<std::size_t>(counts.bias));
  if (counts.weights > 0) source.weights(model, layer, values.weights);
  if (counts.bias > 0) source.bias(model, layer, values.bias);
  return values;
}

}  // namespace hios
