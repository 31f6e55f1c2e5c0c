#include "support/layers/naive_nchw.h"

#include <algorithm>
#include <limits>
#include <map>

#include "support/layers/naive_layers.h"
#include "support/layers/naive_resize.h"

namespace hios::test {
namespace {

/// Computes the output position that an input position reaches by a kernel tap; returns false if
/// there is none.
bool reaches(std::int64_t in, std::int64_t tap, std::int64_t stride, std::int64_t padding,
             std::int64_t size, std::int64_t& out) {
  const std::int64_t scaled = in + padding - tap;
  out = scaled / stride;
  return scaled >= 0 && scaled % stride == 0 && out < size;
}

/// Calls visit(oh, ow, kh, kw) for every window of `layer` that contains the input pixel (h, w).
template <class Windowed, class Visit>
void each_window(const Windowed& layer, const Shape& out, std::int64_t h, std::int64_t w,
                 Visit visit) {
  for (std::int64_t kh = 0; kh < layer.kernel.h; ++kh) {
    for (std::int64_t kw = 0; kw < layer.kernel.w; ++kw) {
      std::int64_t oh = 0, ow = 0;
      if (reaches(h, kh * layer.dilation.h, layer.stride.h, layer.padding.begin.h, out.h, oh) &&
          reaches(w, kw * layer.dilation.w, layer.stride.w, layer.padding.begin.w, out.w, ow)) {
        visit(oh, ow, kh, kw);
      }
    }
  }
}

Values convolve(const Model& model, const Layer& layer, const Conv& conv, const Values& in,
                const Shape& out_shape, TensorSource& source) {
  const std::int64_t group_in = in.shape.c / conv.groups,
                     group_out = conv.out_channels / conv.groups;
  std::vector<float> weights(
      static_cast<std::size_t>(conv.out_channels * group_in * conv.kernel.h * conv.kernel.w));
  std::vector<float> bias(static_cast<std::size_t>(conv.out_channels), 0.0f);
  source.weights(model, layer, weights);
  if (conv.bias) source.bias(model, layer, bias);
  Values out(out_shape);
  in.each([&](std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
    const std::int64_t group = c / group_in;
    each_window(conv, out_shape, h, w, [&](auto oh, auto ow, auto kh, auto kw) {
      for (std::int64_t o = group * group_out; o < (group + 1) * group_out; ++o) {
        const std::int64_t index =
            ((o * group_in + c % group_in) * conv.kernel.h + kh) * conv.kernel.w + kw;
        out.at(n, o, oh, ow) += in.at(n, c, h, w) * weights[static_cast<std::size_t>(index)];
      }
    });
  });
  out.each([&](auto n, auto c, auto h, auto w) {
    out.at(n, c, h, w) += bias[static_cast<std::size_t>(c)];
  });
  return out;
}

/// Spreads every input value over the output; values that fall into the padding are dropped.
Values convolve_transposed(const Model& model, const Layer& layer, const ConvTranspose& conv,
                           const Values& in, const Shape& out_shape, TensorSource& source) {
  const std::int64_t group_in = in.shape.c / conv.groups,
                     group_out = conv.out_channels / conv.groups;
  const std::int64_t taps = conv.kernel.h * conv.kernel.w;
  std::vector<float> weights(static_cast<std::size_t>(in.shape.c * group_out * taps));
  std::vector<float> bias(static_cast<std::size_t>(conv.out_channels), 0.0f);
  source.weights(model, layer, weights);
  if (conv.bias) source.bias(model, layer, bias);
  Values out(out_shape);
  in.each([&](std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
    for (std::int64_t i = 0; i < group_out * taps; ++i) {
      const std::int64_t o = c / group_in * group_out + i / taps, tap = i % taps;
      const std::int64_t oh = h * conv.stride.h + tap / conv.kernel.w * conv.dilation.h -
                              conv.padding.begin.h,
                         ow = w * conv.stride.w + tap % conv.kernel.w * conv.dilation.w -
                              conv.padding.begin.w;
      if (oh < 0 || oh >= out_shape.h || ow < 0 || ow >= out_shape.w) continue;
      out.at(n, o, oh, ow) +=
          in.at(n, c, h, w) * weights[static_cast<std::size_t>(c * group_out * taps + i)];
    }
  });
  out.each([&](auto n, auto c, auto h, auto w) {
    out.at(n, c, h, w) += bias[static_cast<std::size_t>(c)];
  });
  return out;
}

Values pool(const Pool& pool, const Values& in, const Shape& out_shape) {
  const bool max = pool.kind == Pool::Kind::kMax;
  Values out(out_shape), taps({1, 1, out_shape.h, out_shape.w});
  if (max) std::ranges::fill(out.data, -std::numeric_limits<double>::infinity());
  in.each([&](std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
    each_window(pool, out_shape, h, w, [&](auto oh, auto ow, auto, auto) {
      double& value = out.at(n, c, oh, ow);
      value = max ? std::max(value, in.at(n, c, h, w)) : value + in.at(n, c, h, w);
    });
  });
  const Padding counted = pool.count_padding ? pool.padding : Padding(0, 0);
  for (std::int64_t h = -counted.begin.h; h < in.shape.h + counted.end.h; ++h) {
    for (std::int64_t w = -counted.begin.w; w < in.shape.w + counted.end.w; ++w) {
      each_window(pool, out_shape, h, w,
                  [&](auto oh, auto ow, auto, auto) { taps.at(0, 0, oh, ow) += 1; });
    }
  }
  if (!max) {
    out.each([&](auto n, auto c, auto h, auto w) { out.at(n, c, h, w) /= taps.at(0, 0, h, w); });
  }
  return out;
}

Values global_average(const Values& in, const Shape& out_shape) {
  Values out(out_shape);
  in.each([&](auto n, auto c, auto h, auto w) { out.at(n, c, 0, 0) += in.at(n, c, h, w); });
  for (double& value : out.data) value /= static_cast<double>(in.shape.h * in.shape.w);
  return out;
}

Values concat(const Concat& concat, const std::vector<const Values*>& in, const Shape& out_shape) {
  Values out(out_shape);
  std::int64_t first = 0;
  const auto offset = [&](Axis axis) { return concat.axis == axis ? first : 0; };
  for (const Values* part : in) {
    part->each([&](auto n, auto c, auto h, auto w) {
      out.at(n + offset(Axis::kN), c + offset(Axis::kC), h + offset(Axis::kH),
             w + offset(Axis::kW)) = part->at(n, c, h, w);
    });
    const Shape& s = part->shape;
    first += concat.axis == Axis::kN   ? s.n
             : concat.axis == Axis::kC ? s.c
             : concat.axis == Axis::kH ? s.h
                                       : s.w;
  }
  return out;
}

Values sum(const std::vector<const Values*>& in, const Shape& out_shape) {
  Values out(out_shape);
  for (const Values* term : in) out.each([&](auto... i) { out.at(i...) += term->at(i...); });
  return out;
}

/// Returns a layer's scale or constant, or its bias if `bias` is true.
std::optional<Values> parameter(const Model& model, const Layer& layer,
                                const std::optional<Shape>& shape, bool bias,
                                TensorSource& source) {
  if (!shape) return {};
  std::vector<float> drawn(static_cast<std::size_t>(shape->elements()));
  bias ? source.bias(model, layer, drawn) : source.weights(model, layer, drawn);
  return Values::from_memory(*shape, {drawn.begin(), drawn.end()});
}

/// Computes a layer by its kind from `in`, which has the shapes that it reads.
struct ComputeLayer {
  const Model& model;
  const Layer& layer;
  const std::vector<const Values*>& in;
  TensorSource& source;
  const Shape& shape = model.tensor(layer.output).shape;

  Values operator()(const Conv& conv) const {
    return convolve(model, layer, conv, *in[0], shape, source);
  }
  Values operator()(const ConvTranspose& conv) const {
    return convolve_transposed(model, layer, conv, *in[0], shape, source);
  }
  Values operator()(const Pool& kind) const { return pool(kind, *in[0], shape); }
  Values operator()(const GlobalAveragePool&) const { return global_average(*in[0], shape); }
  Values operator()(const Relu&) const {
    Values out = *in[0];
    for (double& value : out.data) value = value > 0 ? value : 0;
    return out;
  }
  Values operator()(const Sum&) const { return sum(in, shape); }
  Values operator()(const Concat& kind) const { return concat(kind, in, shape); }
  Values operator()(const Unary& kind) const { return naive_unary(kind, *in[0]); }
  Values operator()(const Binary& kind) const {
    const auto constant = parameter(model, layer, kind.constant, false, source);
    const Values& other = constant ? *constant : *in[1];
    return kind.constant_first ? naive_binary(kind.function, other, *in[0], shape)
                               : naive_binary(kind.function, *in[0], other, shape);
  }
  Values operator()(const Softmax& kind) const { return naive_softmax(kind, *in[0]); }
  Values operator()(const Reduce& kind) const { return naive_reduce(kind, *in[0], shape); }
  Values operator()(const Normalization& kind) const {
    const auto scale = parameter(model, layer, kind.scale, false, source);
    const auto bias = parameter(model, layer, kind.bias, true, source);
    return naive_normalization(kind, *in[0], scale ? &*scale : nullptr, bias ? &*bias : nullptr);
  }
  Values operator()(const LocalResponseNormalization& kind) const {
    return naive_response_normalization(kind, *in[0]);
  }
  Values operator()(const Resize& kind) const { return naive_resize(kind, *in[0]); }
  Values operator()(const Pad& kind) const { return naive_pad(kind, *in[0], shape); }
  Values operator()(const Move& kind) const { return naive_move(kind, *in[0]); }
  Values operator()(const MatMul& kind) const { return naive_matmul(kind, *in[0], *in[1], shape); }
  Values operator()(const Gather& kind) const {
    const auto table = parameter(model, layer, kind.table, false, source);
    return naive_gather(*in[0], table ? *table : *in[1], shape);
  }
  Values operator()(const TopK& kind) const { return naive_top(kind, *in[0], shape); }
};

}  // namespace

std::vector<float> naive_nchw(const Model& model, const OperatorLayers& layers,
                              const std::vector<std::vector<float>>& inputs, TensorSource& source) {
  std::map<TensorId, Values> known;
  std::size_t next = 0;
  for (const TensorId id : layers.inputs) {
    if (known.contains(id)) continue;
    const std::vector<float>& given = inputs.at(next++);
    known.emplace(id, Values::from_memory(model.tensor(id).shape, {given.begin(), given.end()}));
  }
  for (const LayerId id : layers.layers) {
    const Layer& layer = model.layer(id);
    std::vector<Values> read;
    for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
      const Values& value = known.at(layer.inputs[i]);
      read.push_back(Values::from_memory(layer.input_shapes[i], value.in_memory()));
    }
    std::vector<const Values*> in;
    for (const Values& value : read) in.push_back(&value);
    Values out = std::visit(ComputeLayer{model, layer, in, source}, layer.kind);
    for (double& value : out.data) value = static_cast<float>(value);
    known.emplace(layer.output, std::move(out));
  }
  const std::vector<double> out = known.at(layers.output).in_memory();
  return {out.begin(), out.end()};
}

}  // namespace hios::test
