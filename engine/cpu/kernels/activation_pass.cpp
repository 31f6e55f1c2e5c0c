#include "engine/cpu/kernels/activation_pass.h"

#include <limits>

#include "engine/cpu/kernels/parallel.h"
#include "engine/cpu/kernels/unary_loops.h"

namespace hios::cpu {
namespace {

/// With fewer, oneDNN's code for the processor is faster.
constexpr std::ptrdiff_t kFewLanes = 8;

}  // namespace

ActivationPass::ActivationPass(const LayerKind& activation) {
  const Unary* const unary = std::get_if<Unary>(&activation);  // else a relu
  run_ = loop_of(unary ? unary->function : Unary::Function::kClip);
  const auto bounds = bounds_of(activation);
  alpha_ = bounds ? bounds->lowest : unary->alpha;
  beta_ = bounds ? bounds->highest : unary->beta;
}

std::optional<Bounds> bounds_of(const LayerKind& activation) {
  const Unary* const unary = std::get_if<Unary>(&activation);
  if (unary == nullptr) return Bounds{0, std::numeric_limits<float>::infinity()};
  if (unary->function != Unary::Function::kClip) return {};
  return Bounds{unary->alpha, unary->beta};
}

void ActivationPass::run(int threads, float* values, std::size_t count) const {
  parallel_shares(team_for(threads, count), count,
                  [&](std::size_t begin, std::size_t end) { run(values + begin, end - begin); });
}

bool is_faster_apart(const LayerKind* activation) {
  const Unary* const unary = activation ? std::get_if<Unary>(activation) : nullptr;
  if (unary == nullptr || kernels().lanes < kFewLanes) return false;
  using enum Unary::Function;
  switch (unary->function) {
    case kElu:
    case kGeluTanh:
    case kMish:
    case kSigmoid:
    case kSilu:
    case kTanh:
      return true;
    default:
      return false;
  }
}

}  // namespace hios::cpu
