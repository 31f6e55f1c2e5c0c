// ConvTranspose, by oneDNN's deconvolution. If oneDNN refuses or has only its slow reference loops
// (with groups, dilation and padding of the output), a loop of our own runs: each output pixel
// gathers its input pixels.
#include <cstring>
#include <optional>
#include <string_view>

#include "engine/cpu/primitive.h"
#include "engine/cpu/single/single.h"

namespace hios::cpu {
namespace {

using Deconvolution = dnnl::deconvolution_forward;

/// Describes the primitive; nothing if oneDNN has no fast one.
std::optional<Deconvolution::primitive_desc> describe(const Binding& binding,
                                                      const ConvTranspose& conv,
                                                      const Shape& input) {
  using Memory = dnnl::memory;
  const Memory::desc filter(weight_dims(conv, input.c), Memory::data_type::f32,
                            Memory::format_tag::any);
  const Memory::desc bias =
      conv.bias ? Memory::desc({conv.out_channels}, Memory::data_type::f32, Memory::format_tag::a)
                : Memory::desc();
  const Memory::dims stride{conv.stride.h, conv.stride.w};
  const Memory::dims dilation{conv.dilation.h - 1, conv.dilation.w - 1};
  const Memory::dims before{conv.padding.begin.h, conv.padding.begin.w};
  const Memory::dims after{conv.padding.end.h, conv.padding.end.w};
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  try {
    const auto description =
        described<Deconvolution>(binding.engine, attributes, dnnl::prop_kind::forward_inference,
                                 dnnl::algorithm::deconvolution_direct, nhwc(input), filter, bias,
                                 nhwc(binding.output_shape()), stride, dilation, before, after);
    if (std::string_view(description.impl_info_str()).find("ref") != std::string_view::npos) {
      return {};
    }
    return description;
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_unimplemented || error.status == dnnl_invalid_arguments) return {};
    throw;
  }
}

std::unique_ptr<BoundOperator> bind_primitive(const Binding& binding, const Layer& layer,
                                              const Deconvolution::primitive_desc& description) {
  auto weights = binding.weights.for_primitive(*binding.operation.model, layer, binding.source,
                                               description.weights_desc());
  const dnnl::engine& engine = binding.engine;
  std::vector<FixedPrimitive::Argument> arguments{
      {DNNL_ARG_SRC, memory_at(description.src_desc(), engine, binding.inputs[InputIndex(0)].data)},
      {DNNL_ARG_WEIGHTS, memory_at(description.weights_desc(), engine, weights->weights.get())},
      {DNNL_ARG_DST, memory_at(description.dst_desc(), engine, binding.output)}};
  if (weights->bias) {
    arguments.push_back(
        {DNNL_ARG_BIAS, memory_at(description.bias_desc(), engine, weights->bias.get())});
  }
  return make_operator(
      [weights, primitive = FixedPrimitive(binding, Deconvolution(description),
                                           description.scratchpad_desc(),
                                           std::move(arguments))]() mutable { primitive.run(); });
}

class GatheringDeconvolution final : public BoundOperator {
 public:
  GatheringDeconvolution(const Binding& binding, const Layer& layer, const ConvTranspose& conv)
      : conv_(conv),
        in_(binding.inputs[InputIndex(0)].shape),
        out_(binding.output_shape()),
        input_(binding.inputs[InputIndex(0)].floats()),
        output_(binding.output),
        threads_(binding.share.threads),
        weights_(binding.weights.for_own_loops(*binding.operation.model, layer, binding.source)) {}

  void run() override {
    parallel_shares(threads_, static_cast<std::size_t>(out_.n * out_.h * out_.w),
                    [this](std::size_t begin, std::size_t end) {
                      for (std::size_t pixel = begin; pixel < end; ++pixel) {
                        run_pixel(static_cast<std::int64_t>(pixel));
                      }
                    });
  }

 private:
  /// Returns the input position that tap `k` brings to output position `o`; −1: none.
  static std::int64_t source(std::int64_t o, std::int64_t k, std::int64_t padding,
                             std::int64_t dilation, std::int64_t stride, std::int64_t extent) {
    const std::int64_t shifted = o + padding - k * dilation;
    if (shifted < 0 || shifted % stride != 0 || shifted / stride >= extent) return -1;
    return shifted / stride;
  }

  void run_pixel(std::int64_t pixel) const {
    const std::int64_t column = pixel % out_.w, row = pixel / out_.w % out_.h;
    const std::int64_t image = pixel / (out_.w * out_.h);
    float* const to = output_ + pixel * out_.c;
    std::copy_n(weights_->bias_floats(), out_.c, to);
    const std::int64_t pairs = in_.c * (out_.c / conv_.groups);
    for (std::int64_t kh = 0; kh < conv_.kernel.h; ++kh) {
      const std::int64_t h =
          source(row, kh, conv_.padding.begin.h, conv_.dilation.h, conv_.stride.h, in_.h);
      if (h < 0) continue;
      for (std::int64_t kw = 0; kw < conv_.kernel.w; ++kw) {
        const std::int64_t w =
            source(column, kw, conv_.padding.begin.w, conv_.dilation.w, conv_.stride.w, in_.w);
        if (w < 0) continue;
        add_tap(input_ + ((image * in_.h + h) * in_.w + w) * in_.c,
                weights_->weight_floats() + (kh * conv_.kernel.w + kw) * pairs, to);
      }
    }
  }

  void add_tap(const float* from, const float* weights, float* to) const {
    const std::int64_t outputs = out_.c / conv_.groups, inputs = in_.c / conv_.groups;
    for (std::int64_t i = 0; i < in_.c; ++i) {
      float* const group = to + i / inputs * outputs;
      const float value = from[i];
      for (std::int64_t o = 0; o < outputs; ++o) group[o] += value * weights[i * outputs + o];
    }
  }

  ConvTranspose conv_;
  Shape in_, out_;
  const float* input_;
  float* output_;
  int threads_;
  std::shared_ptr<const PackedWeights> weights_;
};

}  // namespace

std::unique_ptr<BoundOperator> bind_single(const Binding& binding, const Layer& layer,
                                           const ConvTranspose& conv) {
  return with_dnnl([&] { return "making the transposed convolution " + layer.name; },
                   [&]() -> std::unique_ptr<BoundOperator> {
                     const ThreadCount as_run(binding.share.threads);
                     const Shape& input = binding.inputs[InputIndex(0)].shape;
                     if (const auto description = describe(binding, conv, input)) {
                       return bind_primitive(binding, layer, *description);
                     }
                     return std::make_unique<GatheringDeconvolution>(binding, layer, conv);
                   });
}

}  // namespace hios::cpu
