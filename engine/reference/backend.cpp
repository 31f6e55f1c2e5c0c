#include "engine/reference/backend.h"

#include <algorithm>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "engine/backend/fusion.h"
#include "engine/backend/operation.h"
#include "engine/reference/run_layer.h"
#include "hios/base/error.h"
#include "hios/base/numbers/half.h"

namespace hios::reference {
namespace {

constexpr std::size_t kAlignment = 64;

class HostBuffer final : public Buffer {
 public:
  HostBuffer(Bytes size_bytes, std::string_view what) : size_bytes_(size_bytes) {
    try {
      data_ = static_cast<std::byte*>(::operator new(size_bytes, std::align_val_t(kAlignment)));
    } catch (const std::bad_alloc&) {
      throw RunError("reference backend: no memory for " + std::string(what) + " (" +
                     std::to_string(size_bytes) + " bytes)");
    }
  }
  ~HostBuffer() override { ::operator delete(data_, std::align_val_t(kAlignment)); }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;

  std::byte* data() override { return data_; }
  Bytes size_bytes() const override { return size_bytes_; }

 private:
  std::byte* data_ = nullptr;
  Bytes size_bytes_;
};

/// An input of an operator: a buffer that the caller owns, or the backend's scratch, which moves
/// when a later bind needs more of it.
struct StepInput {
  const float* bound = nullptr;
  std::size_t scratch_offset = 0;  ///< in floats; used if `bound` is null
  Shape shape;
};

/// One layer with everything that its kernel needs.
struct Step {
  LayerKind kind;
  std::shared_ptr<const LayerWeights> weights;  ///< null: the layer has none
  std::vector<StepInput> inputs;
  float* bound_output = nullptr;  ///< null: in the scratch
  std::size_t scratch_offset = 0;
  Shape output_shape;
  /// For products in tf32: the scratch of each of their rounded inputs.
  std::vector<std::size_t> rounded;
};

/// A tensor that is halves outside the operator and fp32 in the scratch.
template <class Pointer>
struct Crossing {
  Pointer outside;
  std::size_t scratch_offset;
  std::size_t elements;
};
using Widening = Crossing<const Half*>;
using Narrowing = Crossing<Half*>;

/// The steps of an operator, in order.
struct Steps {
  std::vector<Widening> inputs;  ///< for fp16 only
  std::vector<Step> layers;
  std::optional<Narrowing> output;  ///< for fp16 only
};

/// Returns true for the layers that tensor cores compute; in tf32 their inputs are rounded.
bool is_product(const LayerKind& kind) {
  return std::holds_alternative<Conv>(kind) || std::holds_alternative<ConvTranspose>(kind) ||
         std::holds_alternative<MatMul>(kind);
}

class ReferenceOperator final : public BoundOperator {
 public:
  ReferenceOperator(Steps steps, std::vector<float>& scratch)
      : steps_(std::move(steps)), scratch_(scratch) {
    std::size_t most = 0;
    for (const Step& step : steps_.layers) most = std::max(most, step.inputs.size());
    inputs_.resize(most);
  }

  void run() override {
    for (const Widening& input : steps_.inputs) {
      std::transform(input.outside, input.outside + input.elements, &scratch_[input.scratch_offset],
                     to_float);
    }
    for (const Step& step : steps_.layers) run_step(step);
    if (!steps_.output) return;
    const float* const from = &scratch_[steps_.output->scratch_offset];
    std::transform(from, from + steps_.output->elements, steps_.output->outside, to_half);
  }

 private:
  void run_step(const Step& step) {
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      const StepInput& input = step.inputs[i];
      inputs_[i] = {input.bound ? input.bound : &scratch_[input.scratch_offset], input.shape};
    }
    for (std::size_t i = 0; i < step.rounded.size(); ++i) {
      float* const rounded = &scratch_[step.rounded[i]];
      std::transform(inputs_[i].data, inputs_[i].data + inputs_[i].shape.elements(), rounded,
                     round_to_tf32);
      inputs_[i].data = rounded;
    }
    const Output output{step.bound_output ? step.bound_output : &scratch_[step.scratch_offset],
                        step.output_shape};
    const auto inputs = std::span(inputs_).first(step.inputs.size());
    run_layer(step.kind, step.weights.get(), inputs, output);
  }

  Steps steps_;
  std::vector<Input> inputs_;  // inputs of the running step
  std::vector<float>& scratch_;
};

/// Turns an operator of any form into steps of one layer each.
class StepBuilder {
 public:
  StepBuilder(const Operation& operation, const BoundInputs& inputs, std::byte* output,
              Precision precision)
      : model_(*operation.model),
        output_(operation.layers->output),
        bound_inputs_(inputs),
        bound_output_(output),
        precision_(precision) {}

  /// Adds a step. REQUIRES: a part of one layer; the earlier parts have been added.
  Step& add(const Part& part) {
    const Layer& layer = model_.layer(part.layers.layers.front());
    Step& step = steps_.layers.emplace_back();
    step.kind = layer.kind;
    for (std::size_t i = 0; i < part.operands.size(); ++i) {
      step.inputs.push_back(input(part.operands[i], layer.input_shapes[i]));
    }
    step.output_shape = model_.tensor(layer.output).shape;
    if (precision_ == Precision::kTf32 && is_product(layer.kind)) {
      for (const StepInput& in : step.inputs) step.rounded.push_back(take(in.shape));
    }
    if (layer.output == output_ && precision_ != Precision::kFp16) {
      step.bound_output = reinterpret_cast<float*>(bound_output_);
      return step;
    }
    step.scratch_offset = take(step.output_shape);
    if (layer.output == output_) {
      steps_.output = {reinterpret_cast<Half*>(bound_output_), step.scratch_offset,
                       static_cast<std::size_t>(step.output_shape.elements())};
    }
    return step;
  }

  std::size_t scratch_size() const { return scratch_size_; }  ///< in floats
  Steps finish() { return std::move(steps_); }

 private:
  std::size_t take(const Shape& shape) {
    return std::exchange(scratch_size_, scratch_size_ + static_cast<std::size_t>(shape.elements()));
  }

  /// Returns an operand, read in this shape.
  StepInput input(const Operand& operand, const Shape& shape) {
    if (operand.made_inside) {
      return {.scratch_offset = steps_.layers[operand.index].scratch_offset, .shape = shape};
    }
    const Source source = bound_inputs_[InputIndex(operand.index)];
    StepInput result{.shape = shape};
    if (precision_ != Precision::kFp16) {
      result.bound = source.floats();
      return result;
    }
    result.scratch_offset = take(result.shape);
    steps_.inputs.push_back({reinterpret_cast<const Half*>(source.data), result.scratch_offset,
                             static_cast<std::size_t>(result.shape.elements())});
    return result;
  }

  const Model& model_;
  TensorId output_;
  const BoundInputs& bound_inputs_;
  std::byte* bound_output_;
  Precision precision_;
  Steps steps_;
  std::size_t scratch_size_ = 0;
};

/// Rounds the weights as an upload to a device would.
void round_weights(Precision precision, const LayerKind& kind, std::vector<float>& weights,
                   std::vector<float>& bias) {
  if (precision == Precision::kTf32 && is_product(kind)) {
    std::ranges::transform(weights, weights.begin(), round_to_tf32);
  }
  if (precision != Precision::kFp16) return;
  std::ranges::transform(weights, weights.begin(), round_to_half);
  std::ranges::transform(bias, bias.begin(), round_to_half);
}

class ReferenceBackend final : public Backend {
 public:
  explicit ReferenceBackend(const BackendOptions& options)
      : threads_(options.threads), precision_(options.precision) {}

  std::string_view name() const override { return "reference"; }
  std::string_view kind() const override { return "cpu"; }
  int threads() const override { return threads_; }
  Precision precision() const override { return precision_; }
  Json describe() const override {
    return {{"library", "plain loops"},
            {"accumulation", "double"},
            {"layout", "NHWC"},
            {"math", to_string(precision_)}};
  }

  /// Returns a reason for numbers that halves do not hold only: the kinds of layers are a closed
  /// set, and each has a loop.
  std::optional<std::string> unsupported(const Operation& operation) const override {
    return inexact_indices(operation, precision_);
  }

  std::unique_ptr<Buffer> allocate(Bytes size_bytes, std::string_view what) override {
    return std::make_unique<HostBuffer>(size_bytes, what);
  }

  std::unique_ptr<BoundOperator> bind(const Operation& operation,
                                      std::span<const std::byte* const> inputs, std::byte* output,
                                      const CoreShare& share, TensorSource& source) override;

  void run_stage(std::span<const BoundGroup> groups, std::span<const CoreShare> shares,
                 void (*poll)(void*), void* poll_argument) override;

 private:
  using WeightsKey = std::tuple<const TensorSource*, const Model*, std::string>;

  std::shared_ptr<const LayerWeights> weights_of(const Model& model, const Layer& layer,
                                                 TensorSource& source);

  int threads_;
  Precision precision_;
  std::vector<float> scratch_;  // scratch of the running operator; as large as the largest needs
  std::map<WeightsKey, std::weak_ptr<const LayerWeights>> weights_;
};

std::unique_ptr<BoundOperator> ReferenceBackend::bind(const Operation& operation,
                                                      std::span<const std::byte* const> inputs,
                                                      std::byte* output, const CoreShare&,
                                                      TensorSource& source) {
  const BoundInputs bound_inputs(operation, inputs);
  try {
    StepBuilder builder(operation, bound_inputs, output, precision_);
    for (const Part& part : single_layers(*operation.model, *operation.layers)) {
      const Layer& layer = operation.model->layer(part.layers.layers.front());
      Step& step = builder.add(part);
      if (parameters(layer.kind, layer.input_shapes) > 0) {
        step.weights = weights_of(*operation.model, layer, source);
      }
    }
    if (scratch_.size() < builder.scratch_size()) scratch_.resize(builder.scratch_size());
    return std::make_unique<ReferenceOperator>(builder.finish(), scratch_);
  } catch (const std::bad_alloc&) {
    throw RunError("reference backend: no memory for the weights and scratch of " + operation.name);
  }
}

/// Draws and packs a layer's weights, or finds those of another bound operator: a profiler binds an
/// operator once for each stage in which it measures it.
std::shared_ptr<const LayerWeights> ReferenceBackend::weights_of(const Model& model,
                                                                 const Layer& layer,
                                                                 TensorSource& source) {
  std::weak_ptr<const LayerWeights>& known = weights_[{&source, &model, layer.name}];
  if (auto shared = known.lock()) return shared;
  const ParameterCounts counts = parameter_counts(layer.kind, layer.input_shapes);
  Parameters drawn{std::vector<float>(static_cast<std::size_t>(counts.weights)),
                   std::vector<float>(static_cast<std::size_t>(counts.bias))};
  if (counts.weights > 0) source.weights(model, layer, drawn.weights);
  if (counts.bias > 0) source.bias(model, layer, drawn.bias);
  round_weights(precision_, layer.kind, drawn.weights, drawn.bias);
  auto shared = std::make_shared<const LayerWeights>(
      packed(layer.kind, layer.input_shapes.front().c, std::move(drawn)));
  known = shared;
  return shared;
}

void ReferenceBackend::run_stage(std::span<const BoundGroup> groups, std::span<const CoreShare>,
                                 void (*poll)(void*), void* poll_argument) {
  bool first = true;
  for (const BoundGroup& group : groups) {
    for (BoundOperator* op : group) {
      if (!first && poll != nullptr) poll(poll_argument);
      first = false;
      op->run();
    }
  }
}

}  // namespace

std::unique_ptr<Backend> make_backend(const BackendOptions& options) {
  return std::make_unique<ReferenceBackend>(options);
}

}  // namespace hios::reference
