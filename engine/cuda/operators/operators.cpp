// Binds all operators by their form; pools, means, sums, slices and concats.
#include "engine/cuda/operators/operators.h"

#include <limits>
#include <utility>

#include "engine/cuda/device/handles.h"

namespace hios::cuda {
namespace {

int to_int(std::int64_t value) { return static_cast<int>(value); }  // refusal() has checked

class PoolOperator final : public BoundOperator {
 public:
  PoolOperator(const Binding& binding, const PoolForm& form)
      : doing_(doing_text(binding.operation)), stream_(binding.tools.stream.stream()) {
    task_.element = binding.element();
    const Source input = binding.inputs[form.input];
    const Pool& pool = std::get<Pool>(binding.layer(form.pool).kind);
    task_.window = window_of(input.shape, binding.output_shape(), pool);
    task_.input = input.data;
    task_.output = binding.output;
    task_.max = pool.kind == Pool::Kind::kMax;
    if (!pool.count_padding) return;
    task_.counted_top = to_int(pool.padding.begin.h);
    task_.counted_left = to_int(pool.padding.begin.w);
    task_.counted_bottom = to_int(pool.padding.end.h);
    task_.counted_right = to_int(pool.padding.end.w);
  }
  void run() override { HIOS_CUDA(pool(task_, stream_), doing_); }

 private:
  std::string doing_;
  cudaStream_t stream_;
  PoolTask task_;
};

class GlobalAverageOperator final : public BoundOperator {
 public:
  GlobalAverageOperator(const Binding& binding, const GlobalAverageForm& form)
      : doing_(doing_text(binding.operation)), stream_(binding.tools.stream.stream()) {
    const Source input = binding.inputs[form.input];
    const Shape& shape = input.shape;
    task_ = {binding.element(),         input.data,     binding.output, to_int(shape.n),
             to_int(shape.h * shape.w), to_int(shape.c)};
  }
  void run() override { HIOS_CUDA(global_mean(task_, stream_), doing_); }

 private:
  std::string doing_;
  cudaStream_t stream_;
  MeanTask task_;
};

class CombineOperator final : public BoundOperator {
 public:
  CombineOperator(const Binding& binding, const CombineForm& form)
      : doing_(doing_text(binding.operation)),
        stream_(binding.tools.stream.stream()),
        tasks_(combine_tasks(binding.inputs[form], form.relu, binding.output_shape(),
                             binding.element(), binding.output)) {}
  void run() override {
    for (const CombineTask& task : tasks_) HIOS_CUDA(combine(task, stream_), doing_);
  }

 private:
  std::string doing_;
  cudaStream_t stream_;
  std::vector<CombineTask> tasks_;
};

bool fits(const Shape& shape) { return shape.elements() <= std::numeric_limits<int>::max(); }

/// Returns the largest number of terms in a range of an operation's sums.
std::size_t most_terms(const Operation& operation) {
  std::size_t most = 0;
  for (const LayerId id : operation.layers->layers) {
    const Layer& layer = operation.model->layer(id);
    if (std::holds_alternative<Sum>(layer.kind)) most = std::max(most, layer.inputs.size());
  }
  return most;
}

}  // namespace

std::string doing_text(const Operation& operation) { return "running " + operation.name; }

TaskWindow window_of(const Shape& input, const Shape& output, const Extent& kernel,
                     const Extent& stride, const Extent& padding, const Extent& dilation) {
  return {to_int(input.n),   to_int(input.h),    to_int(input.w),   to_int(input.c),
          to_int(output.h),  to_int(output.w),   to_int(output.c),  to_int(kernel.h),
          to_int(kernel.w),  to_int(stride.h),   to_int(stride.w),  to_int(padding.h),
          to_int(padding.w), to_int(dilation.h), to_int(dilation.w)};
}

std::optional<std::string> refusal(const Operation& operation) {
  const Model& model = *operation.model;
  const auto too_large = [&](TensorId id) { return !fits(model.tensor(id).shape); };
  for (const LayerId id : operation.layers->layers) {
    const Layer& layer = model.layer(id);
    bool large = too_large(layer.output);
    for (const TensorId input : layer.inputs) large = large || too_large(input);
    large = large || parameters(layer.kind, layer.input_shapes) > std::numeric_limits<int>::max();
    if (large) return layer.name + " has a tensor of 2^31 values or more";
  }
  if (most_terms(operation) > CombineTask::kMaxTerms) {
    return "it sums more than " + std::to_string(CombineTask::kMaxTerms) + " tensors";
  }
  return {};
}

std::vector<CombineTask> combine_tasks(const std::vector<std::vector<Source>>& ranges, bool relu,
                                       const Shape& output, Element element, void* to) {
  std::vector<CombineTask> tasks;
  int first_channel = 0;
  for (const std::vector<Source>& terms : ranges) {
    const auto count = static_cast<int>(terms.size());
    if (tasks.empty() || tasks.back().ranges == CombineTask::kMaxRanges ||
        tasks.back().first_term[tasks.back().ranges] + count > CombineTask::kMaxTerms) {
      CombineTask& task = tasks.emplace_back();
      task.element = element;
      task.first_term[0] = 0;
      task.pixels = to_int(output.n * output.h * output.w);
      task.out_channels = to_int(output.c);
      task.output = to;
      task.relu = relu;
    }
    CombineTask& task = tasks.back();
    const int range = task.ranges++;
    int term = task.first_term[range];
    for (const Source& source : terms) {
      task.terms[term++] =
          source.data + static_cast<std::size_t>(source.first_channel) * size_of(element);
    }
    task.first_term[range + 1] = term;
    task.channels[range] = to_int(terms.front().shape.c);
    task.term_channels[range] = to_int(terms.front().pixel_stride());
    task.first_channel[range] = first_channel;
    first_channel += task.channels[range];
  }
  return tasks;
}

std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const PoolForm& form) {
  return std::make_unique<PoolOperator>(binding, form);
}

std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const GlobalAverageForm& form) {
  return std::make_unique<GlobalAverageOperator>(binding, form);
}

// A concat is not written in place by its producers. In NHWC its ranges of channels alternate pixel
// by pixel, and operators and messages write dense tensors. The two agree only for a single pixel,
// and none of the four networks has such a concat at its usual size. In addition, a concat sums its
// terms in the same pass, and a term may have other consumers or travel to another rank. The cost
// is one read and one write of the output.
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const CombineForm& form) {
  return std::make_unique<CombineOperator>(binding, form);
}

std::unique_ptr<BoundOperator> bind_operator(const Binding& binding) {
  return std::visit([&](const auto& form) { return bind_form(binding, form); },
                    binding.operation.layers->form);
}

}  // namespace hios::cuda
