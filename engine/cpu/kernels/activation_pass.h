#pragma once

#include <cstddef>
#include <limits>
#include <optional>

#include "engine/cpu/kernels/kernels.h"
#include "hios/model/layer.h"

namespace hios::cpu {

/// An activation, or none, by our own loops over values that have just been written, in place.
class ActivationPass {
 public:
  ActivationPass() = default;
  /// REQUIRES: is_activation.
  explicit ActivationPass(const LayerKind& activation);

  explicit operator bool() const { return run_ != nullptr; }
  void run(float* values, std::size_t count) const { run_({values, values, count, alpha_, beta_}); }
  /// Runs even shares on as many of the threads as are worth it.
  void run(int threads, float* values, std::size_t count) const;

 private:
  UnaryRun run_ = nullptr;
  float alpha_ = 0, beta_ = 0;
};

/// The least and the largest value after a relu or a Clip; without either, none.
struct Bounds {
  float lowest = -std::numeric_limits<float>::infinity();
  float highest = std::numeric_limits<float>::infinity();
};

/// Returns the bounds of an activation that is nothing else.
std::optional<Bounds> bounds_of(const LayerKind& activation);

/// Returns true for an activation (null: none) that takes longer inside oneDNN's convolutions than
/// in a pass of our own over the values while they are in cache: those with an exponential, but
/// Gelu, whose error function is as fast there. (EfficientNet-B0 on one core with AVX-512: 11.8 ms,
/// 12.8 with oneDNN's SiLU.)
bool is_faster_apart(const LayerKind* activation);

}  // namespace hios::cpu
