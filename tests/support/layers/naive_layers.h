#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "hios/model/layer.h"

/// Tensors of tests/support/layers/naive_nchw.h, and its layers without windows (Resize in
/// naive_resize.h).
namespace hios::test {

inline std::size_t nhwc(const Shape& s, std::int64_t n, std::int64_t c, std::int64_t h,
                        std::int64_t w) {
  return static_cast<std::size_t>(((n * s.h + h) * s.w + w) * s.c + c);
}

/// A tensor in NCHW order; sums are kept in double until they are rounded.
struct Values {
  explicit Values(const Shape& s) : shape(s), data(static_cast<std::size_t>(s.elements())) {}
  double& at(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
    return data[static_cast<std::size_t>(((n * shape.c + c) * shape.h + h) * shape.w + w)];
  }
  double at(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) const {
    return const_cast<Values*>(this)->at(n, c, h, w);
  }
  /// Calls visit(n, c, h, w) for every element, in memory order.
  template <class Visit>
  void each(Visit visit) const {
    for (std::int64_t n = 0; n < shape.n; ++n)
      for (std::int64_t c = 0; c < shape.c; ++c)
        for (std::int64_t h = 0; h < shape.h; ++h)
          for (std::int64_t w = 0; w < shape.w; ++w) visit(n, c, h, w);
  }

  /// Returns the values in NHWC order.
  std::vector<double> in_memory() const {
    std::vector<double> flat(data.size());
    each([&](auto... i) { flat[nhwc(shape, i...)] = at(i...); });
    return flat;
  }
  static Values from_memory(const Shape& shape, const std::vector<double>& flat) {
    Values values(shape);
    values.each([&](auto... i) { values.at(i...) = flat.at(nhwc(shape, i...)); });
    return values;
  }

  Shape shape;
  std::vector<double> data;
};

Values naive_unary(const Unary& unary, const Values& in);
Values naive_binary(Binary::Function function, const Values& a, const Values& b,
                    const Shape& out_shape);
Values naive_softmax(const Softmax& softmax, const Values& in);
Values naive_reduce(const Reduce& reduce, const Values& in, const Shape& out_shape);
/// Null pointers: no scale, no bias.
Values naive_normalization(const Normalization& layer, const Values& in, const Values* scale,
                           const Values* bias);
Values naive_response_normalization(const LocalResponseNormalization& layer, const Values& in);
Values naive_pad(const Pad& pad, const Values& in, const Shape& out_shape);
Values naive_move(const Move& move, const Values& in);
Values naive_top(const TopK& kind, const Values& in, const Shape& out_shape);
Values naive_gather(const Values& indices, const Values& table, const Shape& out_shape);
Values naive_matmul(const MatMul& matmul, const Values& a, const Values& b, const Shape& out_shape);

}  // namespace hios::test
