// Reduce over any axes.
#include "engine/cpu/single/reductions.h"

#include <cmath>
#include <limits>

#include "engine/cpu/single/single.h"

namespace hios::cpu {
namespace {

struct AddMagnitudes : AddUp {
  static double step(double acc, float value, double) {
    return acc + std::abs(static_cast<double>(value));
  }
};
/// Adds the exponentials of distances from the item's maximum, so that none overflows.
struct AddExponentials : AddUp {
  static double step(double acc, float value, double center) {
    return acc + std::exp(value - center);
  }
};
struct Multiply {
  static constexpr double start = 1;
  static double step(double acc, float value, double) { return acc * value; }
  static double join(double a, double b) { return a * b; }
};
struct Least {
  static constexpr double start = std::numeric_limits<double>::infinity();
  static double step(double acc, float value, double) { return join(acc, value); }
  static double join(double a, double b) { return a != a || b >= a ? a : b; }
};

class ReduceOperator final : public BoundOperator {
 public:
  ReduceOperator(const Binding& binding, const Reduce& reduce)
      : function_(reduce.function),
        space_(binding.inputs[InputIndex(0)].shape, reduce.axes),
        input_(binding.inputs[InputIndex(0)].floats()),
        output_(binding.output),
        threads_(team_for(binding.share, binding.inputs[InputIndex(0)].shape.elements())),
        scratch_(binding.scratch) {
    const std::int64_t doubles = 2 * space_.items() + partial_results(space_);
    scratch_.reserve(static_cast<std::size_t>(doubles) * sizeof(double));
  }

  void run() override {
    using enum Reduce::Function;
    const auto count = static_cast<double>(space_.reduced());
    switch (function_) {
      case kL1:
        return reduce(AddMagnitudes(), [](double sum) { return sum; });
      case kL2:
        return reduce(AddSquares(), [](double sum) { return std::sqrt(sum); });
      case kLogSum:
        return reduce(AddUp(), [](double sum) { return std::log(sum); });
      case kLogSumExp:
        return log_sum_exp();
      case kMax:
        return reduce(Greatest(), [](double most) { return most; });
      case kMean:
        return reduce(AddUp(), [count](double sum) { return sum / count; });
      case kMin:
        return reduce(Least(), [](double least) { return least; });
      case kProd:
        return reduce(Multiply(), [](double product) { return product; });
      case kSum:
        return reduce(AddUp(), [](double sum) { return sum; });
      case kSumSquare:
        return reduce(AddSquares(), [](double sum) { return sum; });
    }
  }

 private:
  double* results() const { return reinterpret_cast<double*>(scratch_.data()); }
  double* greatest() const { return results() + space_.items(); }
  double* partial() const { return greatest() + space_.items(); }

  template <class Op, class Finish>
  void reduce(const Op& op, Finish&& finish, const double* centers = nullptr) {
    reduce_items(space_, threads_, input_, op, centers, partial(), results(),
                 [&](double value, std::int64_t item) {
                   const double result = finish(value);
                   const double shifted = centers == nullptr ? result : result + centers[item];
                   output_[item] = static_cast<float>(shifted);
                   return shifted;
                 });
  }

  void log_sum_exp() {
    reduce_items(space_, threads_, input_, Greatest(), nullptr, partial(), greatest(),
                 // If all values are −∞, the distances would be NaN.
                 [](double most, std::int64_t) { return std::isinf(most) ? 0.0 : most; });
    reduce(
        AddExponentials(), [](double sum) { return std::log(sum); }, greatest());
  }

  Reduce::Function function_;
  ReductionSpace space_;
  const float* input_;
  float* output_;
  int threads_;
  Scratch& scratch_;
};

}  // namespace

std::unique_ptr<BoundOperator> bind_single(const Binding& binding, const Layer&,
                                           const Reduce& reduce) {
  return std::make_unique<ReduceOperator>(binding, reduce);
}

}  // namespace hios::cpu
