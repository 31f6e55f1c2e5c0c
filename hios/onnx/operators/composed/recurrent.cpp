// Part of hios/onnx/operators/families.h: LSTM and GRU over sequences of known length, as a chain
// of layers that schedulers see. The products with the inputs of all steps are one convolution; a
// step then has one product with its state, and functions of each value. Where both directions are
// read, they are two chains that run at the same time.
#include <algorithm>
#include <string>

#include "hios/onnx/operators/constants/values.h"
#include "hios/onnx/operators/elementwise.h"
#include "hios/onnx/operators/families.h"

namespace hios::onnx {
namespace {

using Kind = Unary::Function;

constexpr std::int64_t kMostSteps = 512;

/// One direction of the node: its parameters, and the functions of its steps.
class Recurrence {
 public:
  Recurrence(LayerEmitter& emitter, const Node& node, std::int64_t direction, std::int64_t gates)
      : emitter_(emitter), node_(node), direction_(direction), gates_(gates) {
    const View& weights = parameter(1, 3);
    width_ = weights.dims[1] / gates;
    inputs_ = one_of(weights);
    states_ = one_of(parameter(2, 3));
    if (weights.dims[1] != width_ * gates || states_.dims[0] != width_ * gates ||
        states_.dims[1] != width_) {
      node.fail("its weights are of other sizes than its state");
    }
    if (node.has(3)) {
      const View bias = one_of(parameter(3, 2));
      if (bias.dims[0] != 2 * gates * width_) node.fail("its bias has another size");
      bias_ = floats_of(bias);
    } else {
      bias_.assign(static_cast<std::size_t>(2 * gates * width_), 0);
    }
  }

  std::int64_t width() const { return width_; }
  /// Returns x·Wᵀ and its bias for all steps. `with_both`: the bias of the state is added, too.
  View of_inputs(const View& x, std::int64_t with_both) const {
    const auto size = static_cast<std::size_t>(gates_ * width_);
    std::vector<float> bias(bias_.begin(), bias_.begin() + static_cast<std::ptrdiff_t>(size));
    for (std::size_t i = 0; i < static_cast<std::size_t>(with_both * width_); ++i)
      bias[i] += bias_[size + i];
    return multiply_rows(emitter_, x, inputs_, std::move(bias));
  }
  /// Returns h·Rᵀ of some gates, from `first` on, and of their bias where it is asked for.
  View of_state(const View& h, std::int64_t first, std::int64_t count, bool biased) const {
    std::vector<float> bias;
    const auto begin = bias_.begin() + (gates_ + first) * width_;
    if (biased) bias.assign(begin, begin + count * width_);
    return multiply_rows(emitter_, h, slice(states_, 0, first * width_, count * width_, 1),
                         std::move(bias));
  }
  /// Returns the bias of a gate's product with the state.
  View state_bias(std::int64_t gate) const {
    const auto begin = bias_.begin() + (gates_ + gate) * width_;
    return constant_view({ConstantType::kFloat, {begin, begin + width_}, {}}, {width_});
  }
  /// Returns the values of a gate in a row of all gates' values.
  View gate(const View& row, std::int64_t which, std::int64_t count = 1) const {
    return slice(row, row.rank() - 1, which * width_, count * width_, 1);
  }
  /// Returns the first state, (batch, width); empty where it is zero.
  std::optional<View> first_state(std::size_t input) const {
    if (!node_.has(input)) return {};
    const View view = remove_axis(slice(node_.input(input), 0, direction_, 1, 1), 0);
    const bool zero = view.is_constant() &&
                      std::ranges::all_of(floats_of(view), [](float value) { return value == 0; });
    if (zero) return {};
    if (view.is_constant()) node_.fail("its first state is a constant other than zero");
    return view;
  }

 private:
  const View& parameter(std::size_t input, std::size_t rank) const {
    const View& view = node_.input(input);
    if (!view.is_constant()) node_.fail("its weights must be constants");
    if (view.rank() != rank || direction_ >= view.dims[0])
      node_.fail("its weights have other dimensions than its directions");
    return view;
  }
  View one_of(const View& view) const { return remove_axis(slice(view, 0, direction_, 1, 1), 0); }

  LayerEmitter& emitter_;
  const Node& node_;
  std::int64_t direction_, gates_, width_ = 0;
  View inputs_, states_;
  std::vector<float> bias_;
};

/// h and, of an LSTM, c; empty where they are zero.
struct State {
  std::optional<View> h, c;
};

using Pair = Binary::Function;

/// Gates i, o, f, c: c = f·c + i·tanh(c'), h = o·tanh(c).
State lstm_step(LayerEmitter& emitter, const Recurrence& of, const View& row, const State& state) {
  View gates = row;
  if (state.h) gates = combine(emitter, Pair::kAdd, row, of.of_state(*state.h, 0, 4, false));
  const View open = apply(emitter, {Kind::kSigmoid}, of.gate(gates, 0, 3));
  const View next = apply(emitter, {Kind::kTanh}, of.gate(gates, 3));
  View c = combine(emitter, Pair::kMul, of.gate(open, 0), next);
  if (state.c) {
    c = combine(emitter, Pair::kAdd, combine(emitter, Pair::kMul, of.gate(open, 2), *state.c), c);
  }
  const View h = combine(emitter, Pair::kMul, of.gate(open, 1), apply(emitter, {Kind::kTanh}, c));
  return {h, c};
}

/// Gates z, r, h: h = (1 − z)·h' + z·h, with h' = tanh(x' + r·(h·R + b)), or tanh(x' + (r·h)·R + b)
/// where the reset comes before the product.
State gru_step(LayerEmitter& emitter, const Recurrence& of, const View& row, const State& state,
               bool reset_after) {
  View zr = of.gate(row, 0, 2);
  if (state.h) zr = combine(emitter, Pair::kAdd, zr, of.of_state(*state.h, 0, 2, false));
  zr = apply(emitter, {Kind::kSigmoid}, zr);
  const View z = of.gate(zr, 0), r = of.gate(zr, 1);
  View rest = of.state_bias(2);
  if (state.h) {
    const View read = reset_after ? *state.h : combine(emitter, Pair::kMul, r, *state.h);
    rest = of.of_state(read, 2, 1, true);
  }
  if (reset_after) rest = combine(emitter, Pair::kMul, r, rest);
  const View next =
      apply(emitter, {Kind::kTanh}, combine(emitter, Pair::kAdd, of.gate(row, 2), rest));
  // (1 − z)·h' + z·h = h' + z·(h − h')
  if (!state.h) {
    return {combine(emitter, Pair::kSub, next, combine(emitter, Pair::kMul, z, next)), {}};
  }
  const View change = combine(emitter, Pair::kMul, z, combine(emitter, Pair::kSub, *state.h, next));
  return {combine(emitter, Pair::kAdd, next, change), {}};
}

/// Fails for forms of the node that are not computed.
void check_form(const Node& node, std::int64_t steps) {
  if (node.has_attribute("activations")) {
    node.fail("has activations of its own; only those that ONNX takes without them are computed");
  }
  const bool forgets = node.type() == "LSTM" && node.integer("input_forget", 0) != 0;
  if (node.has_attribute("clip") || forgets)
    node.fail("its clip and input_forget are not computed");
  if (node.has(7)) node.fail("its peepholes are not computed");
  if (steps > kMostSteps) {
    node.fail("has " + std::to_string(steps) + " steps, more than " + std::to_string(kMostSteps) +
              ": name a shorter input");
  }
  if (!node.has(4)) return;
  const std::vector<std::int64_t> lengths = node.integers(4);
  if (std::ranges::any_of(lengths, [&](std::int64_t length) { return length != steps; }))
    node.fail("has sequences of different lengths, which are not read");
}

/// The states of one direction: of all steps, in the order of the inputs, and the last ones.
struct Chain {
  std::vector<View> h;
  State last;
};

Chain chain_of(LayerEmitter& emitter, const Node& node, const View& x, std::int64_t direction,
               bool backwards) {
  const bool lstm = node.type() == "LSTM";
  const Recurrence of(emitter, node, direction, lstm ? 4 : 3);
  const View rows = of.of_inputs(x, lstm ? 4 : 2);
  const bool reset_after = !lstm && node.integer("linear_before_reset", 0) != 0;
  Chain chain;
  chain.last = {of.first_state(5), lstm ? of.first_state(6) : std::nullopt};
  const std::int64_t steps = x.dims[0];
  for (std::int64_t i = 0; i < steps; ++i) {
    const View row = remove_axis(slice(rows, 0, backwards ? steps - 1 - i : i, 1, 1), 0);
    chain.last = lstm ? lstm_step(emitter, of, row, chain.last)
                      : gru_step(emitter, of, row, chain.last, reset_after);
    chain.h.push_back(insert_axis(*chain.last.h, 0));
  }
  if (backwards) std::ranges::reverse(chain.h);
  return chain;
}

Views recurrent(LayerEmitter& emitter, const Node& node) {
  View x = node.input(0);
  if (x.rank() != 3) node.fail("takes three dimensions");
  if (node.integer("layout", 0) != 0) node.fail("its layout must be 0");
  check_form(node, x.dims[0]);
  const std::string direction = node.text("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    node.fail("its direction is unknown");
  std::vector<View> all, h, c;
  const std::int64_t directions = direction == "bidirectional" ? 2 : 1;
  for (std::int64_t i = 0; i < directions; ++i) {
    const bool backwards = direction == "reverse" || i == 1;
    const Chain chain = chain_of(emitter, node, x, i, backwards);
    if (node.wants_output(0)) all.push_back(insert_axis(join(emitter, chain.h, 0), 1));
    h.push_back(insert_axis(*chain.last.h, 0));
    if (chain.last.c) c.push_back(insert_axis(*chain.last.c, 0));
  }
  Views outputs{all.empty() ? h.front() : join(emitter, all, 1)};
  if (node.output_count() > 1) outputs.push_back(join(emitter, h, 0));
  if (node.output_count() > 2 && !c.empty()) outputs.push_back(join(emitter, c, 0));
  return outputs;
}

}  // namespace

void add_recurrent(Operators& operators) {
  const std::vector<std::string_view> both = {"activations", "clip", "direction", "layout"};
  std::vector<std::string_view> lstm = both, gru = both;
  lstm.push_back("input_forget");
  gru.push_back("linear_before_reset");
  // The weights have the size; two belong to activations, which are refused.
  const std::vector<UnreadAttribute> unread = {
      {"hidden_size"}, {"activation_alpha"}, {"activation_beta"}};
  operators["LSTM"] = {.emit = recurrent, .attributes = {.read = lstm, .unread = unread}};
  operators["GRU"] = {.emit = recurrent, .attributes = {.read = gru, .unread = unread}};
}

}  // namespace hios::onnx
