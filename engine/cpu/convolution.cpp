#include "engine/cpu/convolution.h"

#include <omp.h>

#include <utility>

#include "engine/cpu/kernels/parallel.h"

namespace hios::cpu {
namespace {

dnnl::convolution_forward::primitive_desc describe(const Binding& binding, const Layer& layer,
                                                   const ConvolutionShape& shape,
                                                   const dnnl::memory::desc* layout) {
  const Conv& conv = std::get<Conv>(layer.kind);
  using Memory = dnnl::memory;
  const Memory::desc filter = layout != nullptr
                                  ? *layout
                                  : Memory::desc(weight_dims(conv, shape.input.c),
                                                 Memory::data_type::f32, Memory::format_tag::any);
  const Memory::desc bias =
      conv.bias ? Memory::desc({conv.out_channels}, Memory::data_type::f32, Memory::format_tag::a)
                : Memory::desc();
  const Memory::dims stride{shape.stride.h, shape.stride.w};
  const Memory::dims dilation{conv.dilation.h - 1, conv.dilation.w - 1};
  const Memory::dims before{conv.padding.begin.h, conv.padding.begin.w};
  const Memory::dims after{conv.padding.end.h, conv.padding.end.w};
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (shape.relu) attributes.set_post_ops(relu_after());
  return described<dnnl::convolution_forward>(
      binding.engine, attributes, dnnl::prop_kind::forward_inference,
      dnnl::algorithm::convolution_direct, nhwc(shape.input), filter, bias, nhwc(shape.output),
      stride, dilation, before, after);
}

class ConvolutionOperator final : public BoundOperator {
 public:
  ConvolutionOperator(const Binding& binding, const ConvolutionChain& chain)
      : primitive_(
            binding, binding.layer(chain.convolution),
            {binding.inputs[chain.terms.front()].shape, binding.output_shape(),
             std::get<Conv>(binding.layer(chain.convolution).kind).stride, chain.relu_after}),
        input_(binding.inputs[chain.terms.front()].floats()),
        output_(binding.output),
        scratch_(binding.scratch) {
    scratch_.reserve(primitive_.scratch_bytes());
  }

  void run() override { primitive_.run(input_, output_, scratch_.data()); }

 private:
  ConvolutionPrimitive primitive_;
  const float* input_;
  float* output_;
  Scratch& scratch_;
};

}  // namespace

ConvolutionPrimitive::ConvolutionPrimitive(const Binding& binding, const Layer& layer,
                                           const ConvolutionShape& shape,
                                           const dnnl::memory::desc* layout)
    : name_(binding.operation.name), threads_(binding.share.threads), stream_(binding.stream) {
  with_dnnl([&] { return "making the convolution " + layer.name + " of " + name_; },
            [&] {
              const ThreadCount as_run(threads_);
              const auto description = describe(binding, layer, shape, layout);
              primitive_ = dnnl::convolution_forward(description);
              weights_ = binding.weights.for_primitive(*binding.operation.model, layer,
                                                       binding.source, description.weights_desc());
              const dnnl::engine& engine = binding.engine;
              input_ = dnnl::memory(description.src_desc(), engine, DNNL_MEMORY_NONE);
              output_ = dnnl::memory(description.dst_desc(), engine, DNNL_MEMORY_NONE);
              filter_ = dnnl::memory(description.weights_desc(), engine, weights_->weights.get());
              if (weights_->bias) {
                bias_ = dnnl::memory(description.bias_desc(), engine, weights_->bias.get());
              }
              scratchpad_ = dnnl::memory(description.scratchpad_desc(), engine, DNNL_MEMORY_NONE);
            });
  const auto pass = [&](int role, const dnnl::memory& memory) {
    arguments_[argument_count_++] = {role, memory.get()};
  };
  pass(DNNL_ARG_SRC, input_);
  pass(DNNL_ARG_WEIGHTS, filter_);
  pass(DNNL_ARG_DST, output_);
  pass(DNNL_ARG_SCRATCHPAD, scratchpad_);
  if (weights_->bias) pass(DNNL_ARG_BIAS, bias_);
}

void ConvolutionPrimitive::point(dnnl::memory& memory, const void* data, const void*& current) {
  if (data == current) return;
  memory.set_data_handle(const_cast<void*>(data));
  current = data;
}

void ConvolutionPrimitive::run(const float* input, float* output, std::byte* scratch) {
  omp_set_num_threads(threads_);
  with_dnnl([&] { return "running the convolution of " + name_; },
            [&] {
              point(input_, input, input_at_);
              point(output_, output, output_at_);
              point(scratchpad_, scratch, scratch_at_);
              dnnl::error::wrap_c_api(dnnl_primitive_execute(primitive_.get(), stream_.get(),
                                                             argument_count_, arguments_.data()),
                                      "could not execute");
            });
}

std::unique_ptr<BoundOperator> bind_convolution(const Binding& binding,
                                                const ConvolutionChain& chain) {
  return std::make_unique<ConvolutionOperator>(binding, chain);
}

}  // namespace hios::cpu
