#include "engine/cuda/backend.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "engine/backend/operation.h"
#include "engine/cuda/device/device.h"
#include "engine/cuda/device/gpu.h"
#include "engine/cuda/device/handles.h"
#include "engine/cuda/device/recording.h"
#include "engine/cuda/device/tool_range.h"
#include "engine/cuda/operators/operators.h"
#include "hios/platform/platform.h"

namespace hios::cuda {
namespace {

class ReadThrough final : public CacheFlush {
 public:
  ReadThrough(std::span<const std::byte> stretch, cudaStream_t stream)
      : stretch_(stretch), size_bytes_(stretch.size()), stream_(stream) {}
  void set_size(Bytes size_bytes) override {
    size_bytes_ = std::min<Bytes>(size_bytes, stretch_.size());
  }
  void run() override {
    HIOS_CUDA(read_through(stretch_.data(), size_bytes_, stream_), "driving out the caches");
  }

 private:
  std::span<const std::byte> stretch_;
  Bytes size_bytes_;
  cudaStream_t stream_;
};

/// An operator as a range of NVIDIA's tools, by its name.
class InToolRange final : public BoundOperator {
 public:
  InToolRange(std::string name, std::unique_ptr<BoundOperator> op)
      : name_(std::move(name)), operator_(std::move(op)) {}
  void run() override {
    const ToolRange range(name_.c_str());
    operator_->run();
  }

 private:
  std::string name_;
  std::unique_ptr<BoundOperator> operator_;
};

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(const BackendOptions& options);

  std::string_view name() const override { return "cuda"; }
  std::string_view kind() const override { return kGpuKind; }
  int threads() const override { return 0; }
  Precision precision() const override { return precision_; }
  Json describe() const override;

  std::optional<std::string> unsupported(const Operation& operation) const override {
    const auto reason = refusal(operation);
    return reason ? reason : inexact_indices(operation, precision_);
  }
  Json algorithms(const Operation& operation, Choosing) override;
  Json trials() const override { return algorithms_.trials(); }
  void adopt(const Json& algorithms) override { algorithms_.adopt(algorithms); }

  std::unique_ptr<Buffer> allocate(Bytes size_bytes, std::string_view what) override {
    return std::make_unique<DeviceBlock>(size_bytes, what, &shared_);
  }
  std::unique_ptr<BoundOperator> bind(const Operation& operation,
                                      std::span<const std::byte* const> inputs, std::byte* output,
                                      const CoreShare& share, TensorSource& source) override;
  void run_stage(std::span<const BoundGroup> groups, std::span<const CoreShare> shares,
                 void (*)(void*), void*) override {
    streams_.run(groups, shares);
  }

  void write(std::byte* to, const void* from_host, Bytes size_bytes) override {
    streams_.copy(to, from_host, size_bytes);
  }
  void read(void* to_host, const std::byte* from, Bytes size_bytes) override {
    streams_.copy(to_host, from, size_bytes);
  }
  std::unique_ptr<CacheFlush> bind_cache_flush(std::span<const std::byte> stretch,
                                               const CoreShare& share) override {
    return std::make_unique<ReadThrough>(stretch, streams_.group(share.stream).stream());
  }
  Bytes cache_bytes() const override { return gpu_.cache_bytes; }
  bool shows_parameters() const override { return true; }
  std::vector<std::span<std::byte>> parameter_memory(const Operation& operation,
                                                     const TensorSource& source) override {
    std::vector<std::span<std::byte>> memory;
    for (const LayerId id : operation.layers->layers) {
      weights_.add_memory(*operation.model, operation.model->layer(id), source, memory);
    }
    return memory;
  }
  void reserve_parameters(Bytes size_bytes) override { weights_.reserve(size_bytes); }
  std::optional<std::string> unsupported_in_place() const override {
    if (gpu_.maps_host_memory) return {};
    return gpu_.name + " maps no host memory";
  }
  std::optional<Bytes> free_memory() const override { return cuda::free_memory(); }

  mpi::Accelerator* accelerator() override { return &device_; }
  void synchronize() override { streams_.synchronize(); }
  std::unique_ptr<ClockMarks> make_marks(std::size_t count) override {
    return cuda::make_marks(streams_, count);
  }

 protected:
  bool records() const override { return graphs_; }
  std::unique_ptr<Recording> make_recording(const std::function<void()>& queue) override {
    return cuda::record(streams_.work().stream(), queue);
  }

 private:
  ConvolutionTools tools(StreamState& stream) const { return {gpu_, stream, lt_.get()}; }

  Gpu gpu_;
  Precision precision_;
  bool graphs_, deterministic_;
  SharedBlocks shared_;
  LtHandle lt_;
  Streams streams_;
  WeightsCache weights_;
  Algorithms algorithms_;
  CudaDevice device_;
};

CudaBackend::CudaBackend(const BackendOptions& options)
    : gpu_(open_gpu(options.device_index)),
      precision_(options.precision),
      graphs_(options.graphs),
      deterministic_(options.deterministic),
      lt_(make<LtHandle>("starting cuBLASLt", cublasLtCreate)),
      weights_(streams_, element_of(options.precision), &shared_),
      algorithms_(options.algorithms, options.deterministic, options.without_algorithms),
      device_(gpu_, streams_, shared_) {
  HIOS_CUDA(load_kernels(), "loading our kernels (is this build for another kind of GPU?)");
}

Json CudaBackend::describe() const {
  Json description = cuda::describe(gpu_);
  description["math"] = to_string(precision_);
  description["cuda_graphs"] = graphs_ && recording_refused().empty();
  if (!recording_refused().empty()) description["cuda_graphs_refused"] = recording_refused();
  description["deterministic"] = deterministic_;
  return description;
}

/// Returns the dense convolutions of an operator of any form.
std::vector<ConvolutionProblem> problems_of(const Model& model, const OperatorLayers& op,
                                            Precision precision) {
  std::vector<ConvolutionProblem> problems;
  if (const auto* const chain = std::get_if<ConvolutionChain>(&op.form)) {
    if (auto problem = problem_of(model, *chain, precision)) problems.push_back(*problem);
  } else if (std::holds_alternative<LayeredForm>(op.form) ||
             std::holds_alternative<ExpandedForm>(op.form)) {
    for (const Part& part : parts_of(model, op)) {
      for (ConvolutionProblem& problem : problems_of(model, part.layers, precision)) {
        problems.push_back(std::move(problem));
      }
    }
  }
  return problems;
}

Json CudaBackend::algorithms(const Operation& operation, Choosing) {
  Json result = Json::object();
  for (const ConvolutionProblem& problem :
       problems_of(*operation.model, *operation.layers, precision_)) {
    result[problem.key()] = algorithms_.of(problem, tools(streams_.work()));
  }
  return result;
}

std::unique_ptr<BoundOperator> CudaBackend::bind(const Operation& operation,
                                                 std::span<const std::byte* const> inputs,
                                                 std::byte* output, const CoreShare& share,
                                                 TensorSource& source) {
  return std::make_unique<InToolRange>(
      operation.name, bind_aligned(operation, inputs, output,
                                   {source, tools(streams_.group(share.stream)), algorithms_,
                                    weights_, precision_}));
}

}  // namespace

std::unique_ptr<Backend> make_backend(const BackendOptions& options) {
  return std::make_unique<CudaBackend>(options);
}

std::vector<std::string> visible_devices() { return visible_gpus(); }
std::vector<std::string> device_addresses() { return gpu_addresses(); }

}  // namespace hios::cuda
