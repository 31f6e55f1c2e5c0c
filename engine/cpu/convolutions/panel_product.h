#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "engine/cpu/kernels/activation_pass.h"
#include "engine/cpu/operators.h"

namespace hios::cpu {

/// A product of so many rows (pixels) and a layer's weights.
struct ProductSize {
  std::int64_t rows = 0, depth = 0, columns = 0;
};

/// A pointwise convolution of few pixels by our own kernel (engine/cpu/kernels/panels_body.h), with
/// bias, addend and bounds in the same pass. Its values do not depend on the threads, nor on the
/// rows that are computed together. They are those of oneDNN 2.6 for AVX-512 up to a depth of 1280.
class PanelProduct {
 public:
  /// Returns true where it shall stand in for oneDNN's convolution, which is slower there.
  /// `all_rows`: of the operator of which this is a block. They decide at depths where the two have
  /// other last bits, so that values do not depend on the blocks.
  static bool suits(const ProductSize& size, std::int64_t all_rows);

  /// `bounds`: of an activation after it. REQUIRES: a pointwise convolution.
  PanelProduct(const Binding& binding, const Layer& layer, const ProductSize& size,
               const std::optional<Bounds>& bounds);

  /// Computes all rows. `addend`: of the output's shape, added before the activation; null: none.
  void run(int threads, const float* input, const float* addend, float* output) const;

 private:
  /// Some rows of a panel's columns.
  struct PanelPart {
    std::int64_t panel, row, rows;
  };
  void compute(const PanelPart& part, const float* input, const float* addend, float* output) const;

  ProductSize size_;
  Bounds bounds_;
  std::shared_ptr<const PackedWeights> weights_;
};

}  // namespace hios::cpu
