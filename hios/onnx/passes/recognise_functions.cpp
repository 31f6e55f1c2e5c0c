// Part of hios/onnx/passes/passes.h: recognises functions that a file writes out. Exporters differ
// in the order of factors, in x/√2 or x·0.7071, in x³ or x·x·x, so sequences of operators are not
// compared. Instead, the scalar factors of a product are collected until two tensors are left: x,
// and a gate p + q·f(u), where f is one function and u a polynomial in x. Its coefficients identify
// the function. Tests: tests/engine/onnx/functions_test.cpp.
#include <array>
#include <cmath>
#include <numbers>
#include <tuple>

#include "hios/onnx/consumers.h"
#include "hios/onnx/passes/passes.h"

namespace hios::onnx {
namespace {

using F = Unary::Function;
using B = Binary::Function;

/// Compares with the precision of exporters, which write constants in five digits or more.
bool near(double value, double wanted) {
  return std::fabs(value - wanted) <= 2e-5 * std::fabs(wanted);
}

/// Coefficients of 1, x, x², x³.
using Polynomial = std::array<double, 4>;

bool near(const Polynomial& value, const Polynomial& wanted) {
  bool all = true;
  for (std::size_t i = 0; i < value.size(); ++i) all = all && near(value[i], wanted[i]);
  return all;
}

/// Returns a · b; empty if its degree is above 3.
std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b) {
  Polynomial result{};
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < b.size(); ++k) {
      if (a[i] == 0 || b[k] == 0) continue;
      if (i + k >= result.size()) return {};
      result[i + k] += a[i] * b[k];
    }
  }
  return result;
}

void add(Polynomial& to, const Polynomial& other, double factor) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * other[i];
}

/// The function p + q·v of a value v.
struct Line {
  double p = 0, q = 1;
};

/// Returns the linear function that a layer with a scalar constant computes; empty if it computes
/// another one.
std::optional<Line> step(const DraftLayer& layer) {
  const auto constant = scalar_of(layer);
  if (!constant) return {};
  const auto& binary = std::get<Binary>(layer.kind);
  switch (binary.function) {
    case B::kAdd:
      return Line{*constant, 1};
    case B::kSub:
      return binary.constant_first ? Line{*constant, -1} : Line{-*constant, 1};
    case B::kMul:
      return Line{0, *constant};
    case B::kDiv:
      if (binary.constant_first) return {};
      return Line{0, 1 / *constant};
    default:
      return {};
  }
}

/// A layer, and the layers before it that it could replace.
class Candidate {
 public:
  Candidate(const Consumers& consumers, const DraftLayer& root)
      : consumers_(consumers), root_(root) {}

  /// Returns the function that the root computes, and its argument; empty if it is none of ours.
  std::optional<std::pair<Unary, DraftId>> function() {
    const auto* clip = std::get_if<Unary>(&root_.kind);
    if (clip != nullptr && clip->function == F::kClip) {
      return closed(hard_sigmoid(Line{0, 1}, root_));
    }
    if (!multiply(root_, 0)) return {};
    if (factors_.size() == 2) {
      for (const std::size_t gate : {std::size_t{0}, std::size_t{1}}) {
        const std::vector<const DraftLayer*> so_far = inside_;
        const auto found = closed(gated(factors_[1 - gate], factors_[gate]));
        if (found) return found;
        inside_ = so_far;
      }
      return {};
    }
    const DraftLayer* core = unary_producer(factors_.front());
    return core ? closed(hard_sigmoid(Line{0, scale_}, *core)) : std::nullopt;
  }

 private:
  using Found = std::optional<std::pair<Unary, DraftId>>;
  static constexpr int kDeepest = 8;

  Found closed(const Found& found) const {
    if (!found || !consumers_.can_replace(inside_, root_)) return {};
    return found;
  }

  const DraftLayer* unary_producer(DraftId tensor) {
    const DraftLayer* layer = consumers_.producer(tensor);
    if (layer == nullptr || !std::holds_alternative<Unary>(layer->kind)) return nullptr;
    inside_.push_back(layer);
    return layer;
  }

  /// Collects the factors of a product: scalars into scale_, tensors into factors_. Returns false
  /// if the layer is no product of one or two tensors.
  bool multiply(const DraftLayer& layer, int depth) {
    const auto* binary = std::get_if<Binary>(&layer.kind);
    if (binary == nullptr || depth > kDeepest) return false;
    if (const auto line = step(layer)) {
      if (line->p != 0 || line->q == -1) return false;
      scale_ *= line->q;
      factor(layer.inputs.front(), depth);
      return factors_.size() <= 2;
    }
    const bool alike = layer.inputs.size() == 2 && layer.input_shapes[0] == layer.input_shapes[1];
    if (binary->function != B::kMul || !alike) return false;
    for (const DraftId input : layer.inputs) factor(input, depth);
    return factors_.size() <= 2;
  }

  void factor(DraftId tensor, int depth) {
    const DraftLayer* layer = consumers_.producer(tensor);
    const auto before = std::tuple(scale_, factors_.size(), inside_.size());
    if (layer != nullptr && consumers_.has_one(tensor)) {
      inside_.push_back(layer);
      if (multiply(*layer, depth + 1)) return;
    }
    scale_ = std::get<0>(before);
    factors_.resize(std::get<1>(before));
    inside_.resize(std::get<2>(before));
    factors_.push_back(tensor);
  }

  /// Recognises x·gate with gate = p + q·f(u), scaled by scale_.
  Found gated(DraftId x, DraftId gate) {
    Line line{0, scale_};
    for (int depth = 0; depth <= kDeepest; ++depth) {
      const DraftLayer* layer = consumers_.producer(gate);
      if (layer == nullptr) return {};
      inside_.push_back(layer);
      if (const auto* unary = std::get_if<Unary>(&layer->kind)) {
        const auto inner = polynomial(layer->inputs.front(), x, 0);
        if (!inner) return {};
        const auto function = named(line, *unary, *inner);
        return function ? Found({*function, x}) : std::nullopt;
      }
      const auto inner = step(*layer);
      if (!inner) return {};
      line = {line.p + line.q * inner->p, line.q * inner->q};
      gate = layer->inputs.front();
    }
    return {};
  }

  /// Returns the function that is x·(p + q·f(u)).
  static std::optional<Unary> named(const Line& line, const Unary& f, const Polynomial& u) {
    constexpr double kHalf = std::numbers::sqrt2 / 2;                         // √½
    constexpr double kTanh = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // √(2/π)
    const bool itself = near(u, {0, 1, 0, 0});
    const bool half = near(line.p, 0.5) && near(line.q, 0.5);
    const bool plain = line.p == 0 && near(line.q, 1);
    switch (f.function) {
      case F::kSigmoid:
        if (plain && itself) return Unary{F::kSilu, 0, 0};
        break;
      case F::kHardSigmoid:
        if (plain && itself && near(f.alpha, 1.0 / 6) && near(f.beta, 0.5)) {
          return Unary{F::kHardSwish, 0, 0};
        }
        break;
      case F::kClip:
        if (clips_to_one(line, f) && near(line.q * u[0], 0.5) && near(line.q * u[1], 1.0 / 6) &&
            u[2] == 0 && u[3] == 0) {
          return Unary{F::kHardSwish, 0, 0};
        }
        break;
      case F::kErf:
        if (half && near(u, {0, kHalf, 0, 0})) return Unary{F::kGelu, 0, 0};
        break;
      case F::kTanh:
        if (half && near(u, {0, kTanh, 0, kTanh * 0.044715})) return Unary{F::kGeluTanh, 0, 0};
        break;
      default:
        break;
    }
    return {};
  }

  /// Returns true if q·clip(u) ranges from 0 to 1.
  static bool clips_to_one(const Line& line, const Unary& clip) {
    return line.p == 0 && clip.alpha == 0 && near(line.q * clip.beta, 1);
  }

  /// Recognises q·clip(a·x + b) with the range 0 to 1. A bare Clip stays one.
  Found hard_sigmoid(const Line& line, const DraftLayer& core) {
    const auto& clip = std::get<Unary>(core.kind);
    if (clip.function != F::kClip || !clips_to_one(line, clip)) return {};
    DraftId x = core.inputs.front();
    Line inner;
    for (int depth = 0; depth <= kDeepest && consumers_.has_one(x); ++depth) {
      const DraftLayer* layer = consumers_.producer(x);
      const auto next = layer ? step(*layer) : std::nullopt;
      if (!next) break;
      inside_.push_back(layer);
      inner = {inner.p + inner.q * next->p, inner.q * next->q};
      x = layer->inputs.front();
    }
    if (&core == &root_ && x == core.inputs.front()) return {};
    return Found({Unary{F::kHardSigmoid, static_cast<float>(line.q * inner.q),
                        static_cast<float>(line.q * inner.p)},
                  x});
  }

  /// Returns a tensor as a polynomial in x; empty if it is none of degree 3 or less.
  std::optional<Polynomial> polynomial(DraftId tensor, DraftId x, int depth) {
    if (tensor == x) return Polynomial{0, 1, 0, 0};
    const DraftLayer* layer = consumers_.producer(tensor);
    if (layer == nullptr || depth > kDeepest) return {};
    const auto* binary = std::get_if<Binary>(&layer->kind);
    const bool sum = std::holds_alternative<Sum>(layer->kind);
    if ((binary == nullptr && !sum) || layer->inputs.size() > 2) return {};
    inside_.push_back(layer);
    std::vector<Polynomial> terms;
    for (const DraftId input : layer->inputs) {
      const auto term = polynomial(input, x, depth + 1);
      if (!term) return {};
      terms.push_back(*term);
    }
    if (terms.size() == 1) return sum ? terms.front() : with_scalar(*layer, terms.front());
    if (layer->input_shapes[0] != layer->input_shapes[1]) return {};
    if (binary != nullptr && binary->function == B::kMul) return product(terms[0], terms[1]);
    const bool minus = binary != nullptr && binary->function == B::kSub;
    if (binary != nullptr && !minus && binary->function != B::kAdd) return {};
    add(terms[0], terms[1], minus ? -1 : 1);
    return terms[0];
  }

  static std::optional<Polynomial> with_scalar(const DraftLayer& layer, const Polynomial& of) {
    const auto& binary = std::get<Binary>(layer.kind);
    if (binary.function == B::kPow && !binary.constant_first) {
      const auto exponent = scalar_of(layer);
      if (exponent != 2 && exponent != 3) return {};
      const auto square = product(of, of);
      return square && exponent == 3 ? product(*square, of) : square;
    }
    const auto line = step(layer);
    if (!line) return {};
    Polynomial result{line->p, 0, 0, 0};
    add(result, of, line->q);
    return result;
  }

  const Consumers& consumers_;
  const DraftLayer& root_;
  double scale_ = 1;
  std::vector<DraftId> factors_;
  std::vector<const DraftLayer*> inside_;  ///< layers that the root would replace
};

}  // namespace

void recognise_functions(Draft& draft) {
  const Consumers consumers(draft);
  for (DraftLayer& layer : draft.layers) {
    const auto found = Candidate(consumers, layer).function();
    if (!found) continue;
    layer.kind = found->first;
    layer.inputs = {found->second};
    layer.input_shapes = {draft.tensors[layer.output.index()].shape};
    layer.parameters = {};
  }
  drop_unused(draft);
}

}  // namespace hios::onnx
