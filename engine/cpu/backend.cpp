#include "engine/cpu/backend.h"

#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "engine/cpu/instruction_set.h"
#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/memory.h"
#include "engine/cpu/operators.h"
#include "engine/cpu/streams.h"
#include "hios/base/error.h"

namespace hios::cpu {
namespace {

class HostBuffer final : public Buffer {
 public:
  HostBuffer(Bytes size_bytes, std::string_view what) : size_bytes_(size_bytes) {
    try {
      data_ = aligned_bytes(size_bytes);
    } catch (const std::bad_alloc&) {
      throw RunError("no memory for " + std::string(what) + ": " + std::to_string(size_bytes) +
                     " bytes");
    }
  }
  std::byte* data() override { return data_.get(); }
  Bytes size_bytes() const override { return size_bytes_; }

 private:
  AlignedBytes data_;
  Bytes size_bytes_;
};

std::string isa_name() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::avx512_core_amx:
      return "avx512_core_amx";
    case dnnl::cpu_isa::avx512_core_bf16:
      return "avx512_core_bf16";
    case dnnl::cpu_isa::avx512_core_vnni:
      return "avx512_core_vnni";
    case dnnl::cpu_isa::avx512_core:
      return "avx512_core";
    case dnnl::cpu_isa::avx2_vnni:
      return "avx2_vnni";
    case dnnl::cpu_isa::avx2:
      return "avx2";
    case dnnl::cpu_isa::avx:
      return "avx";
    case dnnl::cpu_isa::sse41:
      return "sse41";
    default:
      return "other";
  }
}

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(const BackendOptions& options)
      : kind_(options.instructions.empty() ? kCpuKind : instruction_cap(options.instructions).kind),
        threads_(options.threads),
        cores_(options.cores),
        environment_(options.environment),
        engine_(dnnl::engine::kind::cpu, 0),
        weights_(engine_),
        streams_(options.threads, options.cores) {
    choices_.adopt(options.algorithms);
  }

  std::string_view name() const override { return "cpu"; }
  std::string_view kind() const override { return kind_; }
  int threads() const override { return threads_; }
  Json describe() const override;

  /// Returns nothing: the kinds of layers are a closed set, and oneDNN or an own kernel runs each,
  /// with any extents, strides, padding and groups.
  std::optional<std::string> unsupported(const Operation&) const override { return {}; }

  Json algorithms(const Operation& operation, Choosing how) override;
  Json in_blocks_of_rows(const Operation& operation, std::int64_t rows) override;
  void adopt(const Json& algorithms) override { choices_.adopt(algorithms); }

  std::unique_ptr<Buffer> allocate(Bytes size_bytes, std::string_view what) override {
    return std::make_unique<HostBuffer>(size_bytes, what);
  }

  std::unique_ptr<BoundOperator> bind(const Operation& operation,
                                      std::span<const std::byte* const> inputs, std::byte* output,
                                      const CoreShare& share, TensorSource& source) override;

  bool shows_parameters() const override { return true; }
  std::vector<std::span<std::byte>> parameter_memory(const Operation& operation,
                                                     const TensorSource& source) override {
    std::vector<std::span<std::byte>> memory;
    for (const LayerId id : operation.layers->layers) {
      weights_.add_memory(*operation.model, operation.model->layer(id), source, memory);
    }
    return memory;
  }

  std::optional<HeldMemory> held_memory() const override {
    HeldMemory held{.weights = weights_.size_bytes()};
    for (const auto& [stream, state] : stream_states_) held.scratch += state.scratch.size_bytes();
    return held;
  }

  void run_stage(std::span<const BoundGroup> groups, std::span<const CoreShare> shares,
                 void (*poll)(void*), void* poll_argument) override {
    streams_.run(groups, shares, poll, poll_argument);
  }

 private:
  /// State that the operators of one stream share.
  struct StreamState {
    explicit StreamState(const dnnl::engine& engine) : stream(engine) {}
    dnnl::stream stream;
    Scratch scratch;
  };

  Binding binding(const Operation& operation, std::span<const std::byte* const> inputs,
                  std::byte* output, const CoreShare& share, TensorSource& source);

  std::string_view kind_;
  int threads_;
  std::vector<int> cores_;
  Json environment_;
  dnnl::engine engine_;
  WeightsCache weights_;
  Choices choices_;
  std::map<StreamIndex, StreamState> stream_states_;  // its nodes keep their addresses
  Streams streams_;
};

Json CpuBackend::describe() const {
  const dnnl::version_t* version = dnnl::version();
  return {{"library", "oneDNN " + std::to_string(version->major) + "." +
                          std::to_string(version->minor) + "." + std::to_string(version->patch)},
          {"isa", isa_name()},
          {"kernels", kernels().name},
          {"layout", "NHWC"},
          {"threads", threads_},
          {"cores", cores_},
          {"environment", environment_}};
}

Binding CpuBackend::binding(const Operation& operation, std::span<const std::byte* const> inputs,
                            std::byte* output, const CoreShare& share, TensorSource& source) {
  require_code_memory();
  StreamState& state = stream_states_.try_emplace(share.stream, engine_).first->second;
  return {operation,
          {operation, inputs},
          reinterpret_cast<float*>(output),
          share,
          source,
          engine_,
          state.stream,
          weights_,
          state.scratch,
          choices_};
}

std::unique_ptr<BoundOperator> CpuBackend::bind(const Operation& operation,
                                                std::span<const std::byte* const> inputs,
                                                std::byte* output, const CoreShare& share,
                                                TensorSource& source) {
  try {
    auto bound = bind_operator(binding(operation, inputs, output, share, source));
    streams_.prepare(share);
    return bound;
  } catch (const std::bad_alloc&) {
    throw RunError("no memory for the weights and scratch of " + operation.name);
  }
}

Json CpuBackend::algorithms(const Operation& operation, Choosing how) {
  const OperatorLayers& layers = *operation.layers;
  const bool in_parts = how == Choosing::kByTimingInParts;
  if (how == Choosing::kLikeParts) {
    choices_.take_direct(operation, 0);
  } else if (choices_.wants_timing(operation, how) &&
             std::holds_alternative<ConvolutionChain>(layers.form)) {
    const std::vector<CoreShare> shares = core_shares(1, threads_);
    std::vector<std::unique_ptr<Buffer>> buffers;
    std::vector<const std::byte*> inputs;
    const auto buffer = [&](const Shape& shape) {
      const Bytes size_bytes = shape.size_bytes(element_bytes());
      return buffers.emplace_back(allocate(size_bytes, "timing " + operation.name))->data();
    };
    for (const Shape& shape : layers.input_shapes) inputs.push_back(buffer(shape));
    std::byte* const output = buffer(operation.model->tensor(layers.output).shape);
    SeededSource weights(0);  // any seed: all weights take the same time
    const Binding all = binding(operation, inputs, output, shares.front(), weights);
    streams_.prepare(shares.front());
    choices_.time(all, in_parts, [&](BoundOperator& op) {
      const BoundGroup group{&op};
      run_stage(std::span(&group, 1), shares, nullptr, nullptr);
    });
  }
  return choices_.known(operation);
}

Json CpuBackend::in_blocks_of_rows(const Operation& operation, std::int64_t rows) {
  const auto* chain = std::get_if<ConvolutionChain>(&operation.layers->form);
  if (chain == nullptr || chain->has_front()) return Json::object();
  choices_.take_direct(operation, rows);
  return choices_.known(operation);
}

}  // namespace

std::unique_ptr<Backend> make_backend(const BackendOptions& options) {
  settle_instructions(options.instructions);
  require_code_memory();
  return with_dnnl([] { return "starting"; },
                   [&] { return std::make_unique<CpuBackend>(options); });
}

}  // namespace hios::cpu
