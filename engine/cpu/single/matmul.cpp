// MatMul of two tensors, by oneDNN. Batches that both operands have are one primitive with a batch.
// If the right operand has no batches, all rows of the left one are a single matrix. If one operand
// is broadcast over some axis in any other way, a primitive runs for each pair of matrices.
#include <utility>
#include <vector>

#include "engine/cpu/primitive.h"
#include "engine/cpu/single/single.h"

namespace hios::cpu {
namespace {

/// Returns the layout (batch, rows, columns) of matrices with these extents.
dnnl::memory::desc matrices(std::int64_t batch, std::int64_t rows, std::int64_t columns,
                            bool transposed = false) {
  using Dims = dnnl::memory::dims;
  return {Dims{batch, rows, columns}, dnnl::memory::data_type::f32,
          transposed ? Dims{rows * columns, 1, rows} : Dims{rows * columns, columns, 1}};
}

class MatMulOperator final : public BoundOperator {
 public:
  MatMulOperator(const Binding& binding, const MatMul& matmul) {
    const Source left = binding.inputs[InputIndex(0)], right = binding.inputs[InputIndex(1)];
    const Shape& a = left.shape;
    const Shape& b = right.shape;
    const Shape& out = binding.output_shape();
    Product all{out.n * out.h, a.w, a.c, out.c, matmul.transpose_right};
    const bool same = a.n == b.n && a.h == b.h;
    if (!same && b.n * b.h == 1) {
      all.rows *= all.batch;
      all.batch = 1;
    }
    if (same || all.batch == 1) {
      add(binding, all, left.floats(), right.floats(), binding.output);
      return;
    }
    all.batch = 1;
    for (std::int64_t n = 0; n < out.n; ++n) {
      for (std::int64_t h = 0; h < out.h; ++h) {
        const auto matrix = [&](const Shape& s) {
          return ((s.n > 1 ? n : 0) * s.h + (s.h > 1 ? h : 0)) * s.w * s.c;
        };
        add(binding, all, left.floats() + matrix(a), right.floats() + matrix(b),
            binding.output + (n * out.h + h) * out.w * out.c);
      }
    }
  }

  void run() override {
    for (FixedPrimitive& product : products_) product.run();
  }

 private:
  struct Product {
    std::int64_t batch, rows, inner, columns;
    bool transpose_right;
  };

  void add(const Binding& binding, const Product& product, const float* left, const float* right,
           float* output) {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const auto a = matrices(product.batch, product.rows, product.inner);
    const auto b = matrices(product.batch, product.inner, product.columns, product.transpose_right);
    const auto c = matrices(product.batch, product.rows, product.columns);
    const auto description = described<dnnl::matmul>(binding.engine, attributes, a, b, c);
    products_.emplace_back(binding, dnnl::matmul(description), description.scratchpad_desc(),
                           std::vector<FixedPrimitive::Argument>{
                               {DNNL_ARG_SRC, memory_at(a, binding.engine, left)},
                               {DNNL_ARG_WEIGHTS, memory_at(b, binding.engine, right)},
                               {DNNL_ARG_DST, memory_at(c, binding.engine, output)}});
  }

  std::vector<FixedPrimitive> products_;
};

}  // namespace

std::unique_ptr<BoundOperator> bind_single(const Binding& binding, const Layer& layer,
                                           const MatMul& matmul) {
  return with_dnnl([&] { return "making the product " + layer.name; },
                   [&] {
                     const ThreadCount as_run(binding.share.threads);
                     return std::make_unique<MatMulOperator>(binding, matmul);
                   });
}

}  // namespace hios::cpu
