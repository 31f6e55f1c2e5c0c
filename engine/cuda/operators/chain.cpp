// Sum or gate, relu, depthwise convolution, activation, convolution, addend and activation as one
// operator (ConvolutionChain) of up to three steps, each one or two kernels, through the stream's
// workspace:
//  - a sum of several terms, with the relu after it: one pass (several taps read its result, so
//    summing on the fly would read each term several times);
//  - or the product of the term with a gate;
//  - a depthwise convolution, with the relu before it if there was no sum, the activation after it,
//    and the addend if it is the last;
//  - the convolution, with the remaining relu before it, bias, addend and activation, by the chosen
//    algorithm. Our kernel computes all at once; the libraries leave to a pass in place what they
//    do not have (ComputedPart).
//
// Pointwise convolutions take the same way as all others: cuBLASLt's matrix products are one more
// family of candidates, which only they can use.
#include <utility>

#include "engine/cuda/device/handles.h"
#include "engine/cuda/operators/operators.h"
#include "engine/cuda/operators/single/views.h"

namespace hios::cuda {
namespace {

constexpr Bytes kAlignment = 256;

Bytes aligned(Bytes size_bytes) { return (size_bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// Returns true if there is a sum, which includes the relu after it.
bool sums(const ConvolutionChain& chain) { return chain.terms.size() > 1; }

bool is_relu(const Model& model, std::optional<LayerId> activation) {
  return activation && std::holds_alternative<Relu>(model.layer(*activation).kind);
}

/// Returns the activation, unless it is a relu.
std::optional<Unary> function_of(const Model& model, std::optional<LayerId> activation) {
  if (!activation || is_relu(model, activation)) return {};
  return std::get<Unary>(model.layer(*activation).kind);
}

Activation in_epilogue(const Model& model, std::optional<LayerId> activation) {
  return activation_of(is_relu(model, activation), function_of(model, activation));
}

class ChainOperator final : public BoundOperator {
 public:
  ChainOperator(const Binding& binding, const ConvolutionChain& chain);
  void run() override;

 private:
  void add_depthwise(const Binding& binding, const ConvolutionChain& chain, const Layer& layer,
                     const Shape& output);
  void add_dense(const Binding& binding, const ConvolutionChain& chain);
  /// Reserves bytes of the workspace, after those already reserved.
  Bytes take(Bytes size_bytes) { return std::exchange(taken_, taken_ + aligned(size_bytes)); }

  std::string doing_;
  StreamState& stream_;
  const void* input_;  // null: the result of the sum
  void* output_;
  const void* addend_ = nullptr;
  std::vector<CombineTask> combine_;
  std::optional<BinaryTask> gated_;
  bool has_depthwise_ = false, depthwise_is_last_ = false;
  DepthwiseTask depthwise_;
  std::unique_ptr<ConvolutionAlgorithm> dense_;
  std::shared_ptr<const UploadedWeights> depthwise_weights_, dense_weights_;
  Bytes front_at_ = 0, middle_at_ = 0, workspace_at_ = 0, taken_ = 0;
};

ChainOperator::ChainOperator(const Binding& binding, const ConvolutionChain& chain)
    : doing_(doing_text(binding.operation)),
      stream_(binding.tools.stream),
      input_(sums(chain) ? nullptr : binding.inputs[chain.terms.front()].data),
      output_(binding.output) {
  const Model& model = *binding.operation.model;
  const Shape input = binding.inputs[chain.terms.front()].shape;
  const Bytes element_bytes = size_of(binding.element());
  if (chain.addend) addend_ = binding.inputs[*chain.addend].data;
  if (sums(chain)) {
    combine_ = combine_tasks({binding.inputs[chain.terms]}, chain.relu_before, input,
                             binding.element(), nullptr);
    front_at_ = take(input.size_bytes(element_bytes));
  }
  if (chain.gate) {
    const Source gate = binding.inputs[*chain.gate];
    gated_ = {.element = binding.element(),
              .function = Binary::Function::kMul,
              .left = input_,
              .right = gate.data,
              .of_left = broadcast_view(input, input),
              .of_right = broadcast_view(gate.shape, input),
              .values = static_cast<int>(input.elements())};
    front_at_ = take(input.size_bytes(element_bytes));
  }
  if (chain.depthwise) {
    const Layer& first = binding.layer(*chain.depthwise);
    const Shape& middle = model.tensor(first.output).shape;
    add_depthwise(binding, chain, first, middle);
    depthwise_.after.activation = in_epilogue(model, chain.between);
    middle_at_ = take(middle.size_bytes(element_bytes));
    add_dense(binding, chain);
  } else if (is_depthwise(binding.layer(chain.convolution))) {
    add_depthwise(binding, chain, binding.layer(chain.convolution), binding.output_shape());
    depthwise_.after.addend = addend_;
    depthwise_.after.activation = in_epilogue(model, chain.activation);
    depthwise_is_last_ = true;
  } else {
    add_dense(binding, chain);
  }
  stream_.scratch().reserve(taken_);
}

void ChainOperator::add_depthwise(const Binding& binding, const ConvolutionChain& chain,
                                  const Layer& layer, const Shape& output) {
  const Conv& conv = std::get<Conv>(layer.kind);
  depthwise_weights_ = binding.weights.get(*binding.operation.model, layer, binding.source);
  depthwise_.element = binding.element();
  depthwise_.window = window_of(binding.inputs[chain.terms.front()].shape, output, conv);
  depthwise_.weights = depthwise_weights_->weight_values();
  depthwise_.after.bias = depthwise_weights_->bias_values();
  depthwise_.relu_before = chain.relu_before && !sums(chain);
  has_depthwise_ = true;
}

void ChainOperator::add_dense(const Binding& binding, const ConvolutionChain& chain) {
  const Model& model = *binding.operation.model;
  const auto problem = problem_of(model, chain, binding.precision);
  dense_weights_ = binding.weights.get(model, binding.layer(chain.convolution), binding.source);
  dense_ =
      make_convolution(binding.algorithms.of(*problem, binding.tools), *problem, binding.tools);
  workspace_at_ = take(dense_->workspace_bytes());
}

void ChainOperator::run() {
  std::byte* const scratch = stream_.scratch().data();
  const auto slot = [&](Bytes at) { return scratch + at; };
  const void* input = input_;
  if (!combine_.empty()) {
    for (CombineTask& task : combine_) {
      task.output = slot(front_at_);
      HIOS_CUDA(combine(task, stream_.stream()), doing_);
    }
    input = slot(front_at_);
  }
  if (gated_) {
    gated_->output = slot(front_at_);
    HIOS_CUDA(binary(*gated_, stream_.stream()), doing_);
    input = gated_->output;
  }
  if (has_depthwise_) {
    depthwise_.input = input;
    depthwise_.output = depthwise_is_last_ ? output_ : slot(middle_at_);
    HIOS_CUDA(depthwise(depthwise_, stream_.stream()), doing_);
    input = depthwise_.output;
  }
  if (dense_) {
    dense_->queue(
        {input, dense_weights_->weight_values(), dense_weights_->bias_values(), output_, addend_},
        scratch + workspace_at_, doing_);
  }
}

}  // namespace

std::optional<ConvolutionProblem> problem_of(const Model& model, const ConvolutionChain& chain,
                                             Precision precision) {
  const Layer& layer = model.layer(chain.convolution);
  if (!chain.depthwise && is_depthwise(layer)) return {};
  const Conv& conv = std::get<Conv>(layer.kind);
  const Shape& input = layer.input_shapes.front();
  const Shape& output = model.tensor(layer.output).shape;
  ConvolutionProblem problem;
  problem.window = window_of(input, output, conv);
  problem.groups = static_cast<int>(conv.groups);
  problem.bias = conv.bias;
  problem.relu_before = chain.relu_before && !sums(chain) && !chain.depthwise;
  problem.relu_after = is_relu(model, chain.activation);
  problem.precision = precision;
  problem.addend = chain.addend.has_value();
  problem.activation = function_of(model, chain.activation);
  return problem;
}

std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const ConvolutionChain& chain) {
  return std::make_unique<ChainOperator>(binding, chain);
}

}  // namespace hios::cuda
