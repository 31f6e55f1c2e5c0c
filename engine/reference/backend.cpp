#include "engine/reference/backend.h"

#include <algorithm>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "engine/reference/kernels.h"
#include "hios/error.h"

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

/// Where a tensor of an operator lies: a buffer that the caller owns, or the backend's scratch,
/// which moves when a later bind needs more of it.
struct Place {
  const float* bound = nullptr;
  std::size_t scratch_offset = 0;  ///< where `bound` is null, in floats
  Shape shape;
};

/// One layer with all that its kernel needs.
struct Step {
  LayerKind kind;
  std::shared_ptr<const PackedConv> conv;  ///< Conv only
  std::vector<Place> inputs;
  float* bound_output = nullptr;  ///< null: the scratch
  std::size_t scratch_offset = 0;
  Shape output_shape;
};

void run_layer(const Step& step, std::span<const Input> in, const Output& out) {
  struct Visitor {
    const Step& step;
    std::span<const Input> in;
    const Output& out;
    void operator()(const Conv&) const { step.conv->run(in[0], out); }
    void operator()(const Pool& kind) const { pool(kind, in[0], out); }
    void operator()(const GlobalAveragePool&) const { global_average_pool(in[0], out); }
    void operator()(const Relu&) const { relu(in[0], out); }
    void operator()(const Sum&) const { sum(in, out); }
    void operator()(const Concat&) const { concat(in, out); }
  };
  std::visit(Visitor{step, in, out}, step.kind);
}

class ReferenceOperator final : public BoundOperator {
 public:
  ReferenceOperator(std::vector<Step> steps, std::vector<float>& scratch)
      : steps_(std::move(steps)), scratch_(scratch) {
    std::size_t most = 0;
    for (const Step& step : steps_) most = std::max(most, step.inputs.size());
    inputs_.resize(most);
  }

  void run() override {
    for (const Step& step : steps_) {
      for (std::size_t i = 0; i < step.inputs.size(); ++i) {
        const Place& place = step.inputs[i];
        inputs_[i] = {place.bound ? place.bound : &scratch_[place.scratch_offset], place.shape};
      }
      float* output = step.bound_output ? step.bound_output : &scratch_[step.scratch_offset];
      run_layer(step, std::span(inputs_).first(step.inputs.size()), {output, step.output_shape});
    }
  }

 private:
  std::vector<Step> steps_;
  std::vector<Input> inputs_;  // of the step that runs
  std::vector<float>& scratch_;
};

/// Lays the layers of an operator out one by one.
class StepBuilder {
 public:
  StepBuilder(const Operation& operation, std::span<const std::byte* const> inputs, float* output)
      : model_(*operation.model),
        output_(operation.layers->output),
        bound_inputs_(inputs),
        bound_output_(output) {}

  Step& add(const Layer& layer) {
    Step& step = steps_.emplace_back();
    step.kind = layer.kind;
    for (const TensorId id : layer.inputs) step.inputs.push_back(input(id));
    step.output_shape = model_.tensor(layer.output).shape;
    if (layer.output == output_) {
      step.bound_output = bound_output_;
    } else {
      step.scratch_offset = scratch_size_;
      scratch_offsets_.emplace(layer.output, scratch_size_);
      scratch_size_ += static_cast<std::size_t>(step.output_shape.elements());
    }
    return step;
  }

  std::size_t scratch_size() const { return scratch_size_; }  ///< in floats
  std::vector<Step> take() { return std::move(steps_); }

 private:
  /// An earlier layer's output, else the next of the operator's inputs.
  Place input(TensorId id) {
    Place place{.shape = model_.tensor(id).shape};
    if (const auto made = scratch_offsets_.find(id); made != scratch_offsets_.end()) {
      place.scratch_offset = made->second;
    } else {
      place.bound = reinterpret_cast<const float*>(bound_inputs_[next_input_++]);
    }
    return place;
  }

  const Model& model_;
  TensorId output_;
  std::span<const std::byte* const> bound_inputs_;
  float* bound_output_;
  std::vector<Step> steps_;
  std::map<TensorId, std::size_t> scratch_offsets_;
  std::size_t next_input_ = 0, scratch_size_ = 0;
};

class ReferenceBackend final : public Backend {
 public:
  explicit ReferenceBackend(const BackendOptions& options) : threads_(options.threads) {}

  std::string_view name() const override { return "reference"; }
  std::string_view kind() const override { return "cpu"; }
  int threads() const override { return threads_; }
  Json describe() const override {
    return {{"library", "plain loops"}, {"accumulation", "double"}, {"layout", "NHWC"}};
  }

  /// The kinds of layers are a closed set, and there is a loop for each.
  std::optional<std::string> unsupported(const Operation&) const override { return {}; }

  std::unique_ptr<Buffer> allocate(Bytes size_bytes, std::string_view what) override {
    return std::make_unique<HostBuffer>(size_bytes, what);
  }

  std::unique_ptr<BoundOperator> bind(const Operation& operation,
                                      std::span<const std::byte* const> inputs, std::byte* output,
                                      const Lane& lane, TensorSource& source) override;

  void run_stage(std::span<const BoundGroup> groups, std::span<const Lane> lanes,
                 void (*poll)(void*), void* poll_argument) override;

 private:
  using WeightsKey = std::tuple<const TensorSource*, const Model*, std::string>;

  std::shared_ptr<const PackedConv> packed_conv(const Model& model, const Layer& layer,
                                                TensorSource& source);

  int threads_;
  std::vector<float> scratch_;  // of the operator that runs; as large as the neediest
  std::map<WeightsKey, std::weak_ptr<const PackedConv>> weights_;
};

std::unique_ptr<BoundOperator> ReferenceBackend::bind(const Operation& operation,
                                                      std::span<const std::byte* const> inputs,
                                                      std::byte* output, const Lane&,
                                                      TensorSource& source) {
  if (inputs.size() != operation.layers->inputs.size()) {
    throw std::logic_error(operation.name + " has " +
                           std::to_string(operation.layers->inputs.size()) + " inputs, bound to " +
                           std::to_string(inputs.size()));
  }
  try {
    StepBuilder builder(operation, inputs, reinterpret_cast<float*>(output));
    for (const LayerId id : operation.layers->layers) {
      const Layer& layer = operation.model->layer(id);
      Step& step = builder.add(layer);
      if (std::holds_alternative<Conv>(layer.kind)) {
        step.conv = packed_conv(*operation.model, layer, source);
      }
    }
    if (scratch_.size() < builder.scratch_size()) scratch_.resize(builder.scratch_size());
    return std::make_unique<ReferenceOperator>(builder.take(), scratch_);
  } catch (const std::bad_alloc&) {
    throw RunError("reference backend: no memory for the weights and scratch of " + operation.name);
  }
}

/// Draws and packs a layer's weights, or finds them where another bound operator has them already:
/// a profiler binds an operator once for each stage in which it measures it.
std::shared_ptr<const PackedConv> ReferenceBackend::packed_conv(const Model& model,
                                                                const Layer& layer,
                                                                TensorSource& source) {
  std::weak_ptr<const PackedConv>& known = weights_[{&source, &model, layer.name}];
  if (auto packed = known.lock()) return packed;
  const Conv& conv = std::get<Conv>(layer.kind);
  const std::int64_t in_channels = model.tensor(layer.inputs.front()).shape.c;
  const std::int64_t taps = conv.kernel.h * conv.kernel.w;
  std::vector<float> weights(
      static_cast<std::size_t>(conv.out_channels * (in_channels / conv.groups) * taps));
  std::vector<float> bias(static_cast<std::size_t>(conv.bias ? conv.out_channels : 0));
  source.weights(model, layer, weights);
  if (conv.bias) source.bias(model, layer, bias);
  auto packed = std::make_shared<const PackedConv>(conv, in_channels, weights, bias);
  known = packed;
  return packed;
}

void ReferenceBackend::run_stage(std::span<const BoundGroup> groups, std::span<const Lane>,
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
