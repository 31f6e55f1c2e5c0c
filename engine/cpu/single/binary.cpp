// Functions of two values with broadcast. The axes are merged as far as both operands advance
// through them alike. The innermost loop is then a run in which each operand advances by one value
// or keeps its value. That run is the whole tensor if shapes are equal or one operand is a single
// value, the channels of a pixel if a scale is per channel, and so on. So one loop over runs serves
// every broadcast, at the speed of its longest run.
#include <array>
#include <cmath>
#include <vector>

#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/single/single.h"

namespace hios::cpu {
namespace {

struct BroadcastAxis {
  std::int64_t size, left, right;  ///< strides, 0 where the operand is broadcast
};

/// Returns the axes of the output that have more than one value, outermost first, merged.
std::vector<BroadcastAxis> broadcast_axes(const Shape& left, const Shape& right,
                                          const Shape& output) {
  const auto strides = [](const Shape& s) {
    return std::array{s.n > 1 ? s.h * s.w * s.c : 0, s.h > 1 ? s.w * s.c : 0, s.w > 1 ? s.c : 0,
                      s.c > 1 ? std::int64_t{1} : 0};
  };
  const std::array size{output.n, output.h, output.w, output.c};
  const auto of_left = strides(left), of_right = strides(right);
  std::vector<BroadcastAxis> axes;
  for (std::size_t i = 0; i < size.size(); ++i) {
    if (size[i] == 1) continue;
    const BroadcastAxis axis{size[i], of_left[i], of_right[i]};
    if (!axes.empty() && axes.back().left == axis.left * axis.size &&
        axes.back().right == axis.right * axis.size) {
      axes.back() = {axes.back().size * axis.size, axis.left, axis.right};
    } else {
      axes.push_back(axis);
    }
  }
  if (axes.empty()) axes.push_back({1, 0, 0});
  return axes;
}

void pow_run(const BinaryTask& task) {
  for (std::size_t i = 0; i < task.count; ++i) {
    task.output[i] =
        std::pow(task.left[task.left_moves ? i : 0], task.right[task.right_moves ? i : 0]);
  }
}

BinaryRun run_of(Binary::Function function) {
  using enum Binary::Function;
  const BinaryRuns& runs = kernels().binary;
  switch (function) {
    case kAdd:
      return runs.add;
    case kSub:
      return runs.sub;
    case kMul:
      return runs.mul;
    case kDiv:
      return runs.div;
    case kMin:
      return runs.min;
    case kMax:
      return runs.max;
    case kPow:
      return &pow_run;
    case kPRelu:
      return runs.prelu;
    case kEqual:
      return runs.equal;
    case kLess:
      return runs.less;
    case kLessOrEqual:
      return runs.less_or_equal;
    case kKeepIf:
      return runs.keep_if;
  }
  return nullptr;
}

class BinaryOperator final : public BoundOperator {
 public:
  BinaryOperator(const Binding& binding, const Layer& layer, const Binary& binary)
      : values_(binding.output_shape().elements()),
        threads_(team_for(binding.share, values_)),
        run_(run_of(binary.function)),
        output_(binding.output) {
    const Source first = binding.inputs[InputIndex(0)];
    Shape left = first.shape, right = left;
    left_ = right_ = first.floats();
    if (binary.constant) {
      constant_ = binding.weights.for_own_loops(*binding.operation.model, layer, binding.source);
      (binary.constant_first ? left_ : right_) = constant_->weight_floats();
      (binary.constant_first ? left : right) = *binary.constant;
    } else {
      right = binding.inputs[InputIndex(1)].shape;
      right_ = binding.inputs[InputIndex(1)].floats();
    }
    axes_ = broadcast_axes(left, right, binding.output_shape());
    inner_ = axes_.back();
    axes_.pop_back();
    if (binary.function == Binary::Function::kPow && constant_ && !binary.constant_first) {
      use_cheaper_power(right.elements());
    }
  }

  void run() override {
    parallel_shares(threads_, static_cast<std::size_t>(values_),
                    [this](std::size_t begin, std::size_t end) {
                      run_values(static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end));
                    });
  }

 private:
  /// Replaces powers by cheaper functions. x² is x·x to the last bit, and norms in files are
  /// written with it.
  void use_cheaper_power(std::int64_t exponents) {
    if (exponents != 1 || *right_ != 2.0f) return;
    run_ = kernels().binary.mul;
    right_ = left_;
    inner_.right = inner_.left;
    for (BroadcastAxis& axis : axes_) axis.right = axis.left;
  }

  /// Computes output values [begin, end).
  void run_values(std::int64_t begin, std::int64_t end) const {
    while (begin < end) {
      std::int64_t outer = begin / inner_.size;
      const std::int64_t skipped = begin - outer * inner_.size;
      const std::int64_t count = std::min(inner_.size - skipped, end - begin);
      std::int64_t left = skipped * inner_.left, right = skipped * inner_.right;
      for (std::size_t i = axes_.size(); i-- > 0;) {
        const std::int64_t index = outer % axes_[i].size;
        outer /= axes_[i].size;
        left += index * axes_[i].left;
        right += index * axes_[i].right;
      }
      run_({left_ + left, right_ + right, inner_.left != 0, inner_.right != 0, output_ + begin,
            static_cast<std::size_t>(count)});
      begin += count;
    }
  }

  std::int64_t values_;
  int threads_;
  BinaryRun run_;
  std::shared_ptr<const PackedWeights> constant_;
  const float *left_, *right_;
  float* output_;
  std::vector<BroadcastAxis> axes_;  // all but the innermost
  BroadcastAxis inner_{};
};

}  // namespace

std::unique_ptr<BoundOperator> bind_single(const Binding& binding, const Layer& layer,
                                           const Binary& binary) {
  return std::make_unique<BinaryOperator>(binding, layer, binary);
}

}  // namespace hios::cpu
