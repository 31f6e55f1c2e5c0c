#include "support/naive_nchw.h"

#include <algorithm>
#include <limits>
#include <map>

namespace hios::test {
namespace {

/// A tensor in NCHW order; sums are kept in double until `rounded`.
struct Values {
  explicit Values(const Shape& s) : shape(s), data(static_cast<std::size_t>(s.elements())) {}
  double& at(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
    return data[static_cast<std::size_t>(((n * shape.c + c) * shape.h + h) * shape.w + w)];
  }
  double at(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) const {
    return const_cast<Values*>(this)->at(n, c, h, w);
  }
  /// visit(n, c, h, w) for every element, in memory order.
  template <class Visit>
  void each(Visit visit) const {
    for (std::int64_t n = 0; n < shape.n; ++n)
      for (std::int64_t c = 0; c < shape.c; ++c)
        for (std::int64_t h = 0; h < shape.h; ++h)
          for (std::int64_t w = 0; w < shape.w; ++w) visit(n, c, h, w);
  }

  Shape shape;
  std::vector<double> data;
};

std::size_t nhwc(const Shape& s, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
  return static_cast<std::size_t>(((n * s.h + h) * s.w + w) * s.c + c);
}

/// From an input position and a kernel tap to the output position that it reaches, if any.
bool reaches(std::int64_t in, std::int64_t tap, std::int64_t stride, std::int64_t padding,
             std::int64_t size, std::int64_t& out) {
  const std::int64_t scaled = in + padding - tap;
  out = scaled / stride;
  return scaled >= 0 && scaled % stride == 0 && out < size;
}

/// visit(oh, ow, kh, kw) for every window of `layer` that contains the input pixel (h, w).
template <class Windowed, class Visit>
void each_window(const Windowed& layer, const Shape& out, std::int64_t h, std::int64_t w,
                 Visit visit) {
  for (std::int64_t kh = 0; kh < layer.kernel.h; ++kh) {
    for (std::int64_t kw = 0; kw < layer.kernel.w; ++kw) {
      std::int64_t oh = 0, ow = 0;
      if (reaches(h, kh, layer.stride.h, layer.padding.begin.h, out.h, oh) &&
          reaches(w, kw, layer.stride.w, layer.padding.begin.w, out.w, ow)) {
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

Values pool(const Pool& pool, const Values& in, const Shape& out_shape) {
  const bool max = pool.kind == Pool::Kind::kMax;
  Values out(out_shape), taps(out_shape);
  if (max) std::ranges::fill(out.data, -std::numeric_limits<double>::infinity());
  in.each([&](std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
    each_window(pool, out_shape, h, w, [&](auto oh, auto ow, auto, auto) {
      double& value = out.at(n, c, oh, ow);
      value = max ? std::max(value, in.at(n, c, h, w)) : value + in.at(n, c, h, w);
      taps.at(n, c, oh, ow) += 1;
    });
  });
  if (!max) out.each([&](auto... i) { out.at(i...) /= taps.at(i...); });
  return out;
}

Values global_average(const Values& in, const Shape& out_shape) {
  Values out(out_shape);
  in.each([&](auto n, auto c, auto h, auto w) { out.at(n, c, 0, 0) += in.at(n, c, h, w); });
  for (double& value : out.data) value /= static_cast<double>(in.shape.h * in.shape.w);
  return out;
}

Values concat(const std::vector<const Values*>& in, const Shape& out_shape) {
  Values out(out_shape);
  std::int64_t first = 0;
  for (const Values* part : in) {
    part->each(
        [&](auto n, auto c, auto h, auto w) { out.at(n, first + c, h, w) = part->at(n, c, h, w); });
    first += part->shape.c;
  }
  return out;
}

Values compute(const Model& model, const Layer& layer, const std::vector<const Values*>& in,
               TensorSource& source) {
  const Shape& shape = model.tensor(layer.output).shape;
  if (const auto* conv = std::get_if<Conv>(&layer.kind)) {
    return convolve(model, layer, *conv, *in[0], shape, source);
  }
  if (const auto* kind = std::get_if<Pool>(&layer.kind)) return pool(*kind, *in[0], shape);
  if (std::holds_alternative<GlobalAveragePool>(layer.kind)) return global_average(*in[0], shape);
  if (std::holds_alternative<Concat>(layer.kind)) return concat(in, shape);
  Values out(shape);
  for (const Values* term : in) out.each([&](auto... i) { out.at(i...) += term->at(i...); });
  if (std::holds_alternative<Relu>(layer.kind)) {
    for (double& value : out.data) value = value > 0 ? value : 0;
  }
  return out;
}

}  // namespace

std::vector<float> naive_nchw(const Model& model, const OperatorLayers& layers,
                              const std::vector<std::vector<float>>& inputs, TensorSource& source) {
  std::map<TensorId, Values> known;
  std::size_t next = 0;
  for (const TensorId id : layers.inputs) {
    if (known.contains(id)) continue;
    Values values(model.tensor(id).shape);
    const std::vector<float>& given = inputs.at(next++);
    values.each([&](auto... i) { values.at(i...) = given.at(nhwc(values.shape, i...)); });
    known.emplace(id, std::move(values));
  }
  for (const LayerId id : layers.layers) {
    const Layer& layer = model.layer(id);
    std::vector<const Values*> in;
    for (const TensorId tensor : layer.inputs) in.push_back(&known.at(tensor));
    Values out = compute(model, layer, in, source);
    for (double& value : out.data) value = static_cast<float>(value);
    known.emplace(layer.output, std::move(out));
  }
  const Values& out = known.at(layers.output);
  std::vector<float> result(out.data.size());
  out.each([&](auto... i) { result[nhwc(out.shape, i...)] = static_cast<float>(out.at(i...)); });
  return result;
}

}  // namespace hios::test
