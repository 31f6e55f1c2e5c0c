#include "engine/cpu/convolutions/convolution.h"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "engine/cpu/convolutions/post_operations.h"
#include "engine/cpu/kernels/parallel.h"

namespace hios::cpu {
namespace {

/// Returns the shape of a chain's whole convolution and everything after it. REQUIRES: no layer
/// before it.
ConvolutionShape shape_of(const Binding& binding, const ConvolutionChain& chain) {
  const Layer& layer = binding.layer(chain.convolution);
  ConvolutionShape shape{binding.inputs[chain.terms.front()].shape, binding.output_shape(),
                         std::get<Conv>(layer.kind).stride, chain.addend.has_value(),
                         activation_of(binding, chain)};
  if (is_pointwise(layer) && shape.stride == Extent{1, 1}) {
    shape.input = as_one_image(shape.input);
    shape.output = as_one_image(shape.output);
  }
  return shape;
}

class ConvolutionOperator final : public BoundOperator {
 public:
  ConvolutionOperator(const Binding& binding, const ConvolutionChain& chain)
      : primitive_(binding, binding.layer(chain.convolution), shape_of(binding, chain)),
        input_(binding.inputs[chain.terms.front()].floats()),
        addend_(chain.addend ? binding.inputs[*chain.addend].floats() : nullptr),
        output_(binding.output),
        scratch_(binding.scratch) {
    scratch_.reserve(primitive_.scratch_bytes());
  }

  void run() override { primitive_.run(input_, addend_, output_, scratch_.data()); }

 private:
  ConvolutionPrimitive primitive_;
  const float* input_;
  const float* addend_;  // null: none
  float* output_;
  Scratch& scratch_;
};

/// Describes the layer's convolution between two layouts, with bias and the layers after it in the
/// same pass. `filter`: the layout of its weights; null: oneDNN's choice. Throws dnnl::error if
/// oneDNN has no such convolution.
dnnl::convolution_forward::primitive_desc describe_convolution(const Binding& binding,
                                                               const Layer& layer,
                                                               const ConvolutionShape& shape,
                                                               const dnnl::memory::desc& from,
                                                               const dnnl::memory::desc& to,
                                                               const dnnl::memory::desc* filter) {
  const Conv& conv = std::get<Conv>(layer.kind);
  using Memory = dnnl::memory;
  const Memory::desc weights = filter != nullptr
                                   ? *filter
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
  attributes.set_post_ops(post_operations(shape.adds, shape.activation));
  return described<dnnl::convolution_forward>(binding.engine, attributes,
                                              dnnl::prop_kind::forward_inference,
                                              dnnl::algorithm::convolution_direct, from, weights,
                                              bias, to, stride, dilation, before, after);
}

/// Returns true for oneDNN's code without vectors, a hundred times slower. It is what is left for
/// few rows and a layout of weights that was chosen for many.
bool is_reference(const dnnl::convolution_forward::primitive_desc& description) {
  return std::string_view(description.impl_info_str()).starts_with("ref");
}

}  // namespace

Shape as_one_image(const Shape& shape) {
  if (shape.w == 1) return {1, shape.c, 1, shape.n * shape.h};
  return {1, shape.c, shape.n * shape.h, shape.w};
}

const LayerKind* activation_of(const Binding& binding, const ConvolutionChain& chain) {
  return chain.activation ? &binding.layer(*chain.activation).kind : nullptr;
}

ConvolutionPrimitive::ConvolutionPrimitive(const Binding& binding, const Layer& layer,
                                           const ConvolutionShape& shape,
                                           const ConvolutionPrimitive* like)
    : name_(binding.operation.name),
      threads_(binding.share.threads),
      stream_(binding.stream),
      values_(static_cast<std::size_t>(shape.output.elements())) {
  const Shape& out = shape.output;
  const ProductSize size{out.n * out.h * out.w, shape.input.c, out.c};
  const bool product = like ? like->product_.has_value()
                            : is_pointwise(layer) && shape.stride == Extent{1, 1} &&
                                  PanelProduct::suits(size, std::max(shape.all_pixels, size.rows));
  ConvolutionShape inside = shape;
  const auto bounds = shape.activation ? bounds_of(*shape.activation) : std::nullopt;
  if (shape.activation && (product ? !bounds : is_faster_apart(shape.activation))) {
    after_ = ActivationPass(*shape.activation);
    inside.activation = nullptr;
  }
  if (product) {
    product_.emplace(binding, layer, size, bounds);
  } else {
    make(binding, layer, inside, like ? &like->weights_->layout : nullptr);
  }
}

void ConvolutionPrimitive::make(const Binding& binding, const Layer& layer,
                                const ConvolutionShape& shape, const dnnl::memory::desc* layout) {
  with_dnnl([&] { return "making the convolution " + layer.name + " of " + name_; },
            [&] {
              const ThreadCount as_run(threads_);
              const auto described_with = [&](const dnnl::memory::desc* weights) {
                return describe_convolution(binding, layer, shape, nhwc(shape.input),
                                            nhwc(shape.output), weights);
              };
              auto description = described_with(layout);
              if (layout != nullptr && is_reference(description)) {
                description = described_with(nullptr);
              }
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

void ConvolutionPrimitive::run(const float* input, const float* addend, float* output,
                               std::byte* scratch) {
  if (product_) {
    product_->run(threads_, input, addend, output);
    if (after_) after_.run(threads_, output, values_);
    return;
  }
  if (addend != nullptr) {  // the primitive adds to what its output holds
    parallel_shares(threads_, values_, [&](std::size_t begin, std::size_t end) {
      std::memcpy(output + begin, addend + begin, (end - begin) * sizeof(float));
    });
  }
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
  if (after_) after_.run(threads_, output, values_);
}

std::unique_ptr<BoundOperator> bind_convolution(const Binding& binding,
                                                const ConvolutionChain& chain) {
  return std::make_unique<ConvolutionOperator>(binding, chain);
}

}  // namespace hios::cpu
