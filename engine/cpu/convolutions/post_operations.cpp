#include "engine/cpu/convolutions/post_operations.h"

#include <stdexcept>
#include <string>

namespace hios::cpu {
namespace {

void append(dnnl::post_ops& after, dnnl::algorithm function, float alpha = 0, float beta = 0) {
#if DNNL_VERSION_MAJOR >= 3
  after.append_eltwise(function, alpha, beta);
#else
  after.append_eltwise(1.0f, function, alpha, beta);
#endif
}

void append(dnnl::post_ops& after, const Unary& unary) {
  using enum Unary::Function;
  using enum dnnl::algorithm;
  switch (unary.function) {
    case kClip:
      return append(after, eltwise_clip, unary.alpha, unary.beta);
    case kElu:
      return append(after, eltwise_elu, unary.alpha);
    case kGelu:
      return append(after, eltwise_gelu_erf);
    case kGeluTanh:
      return append(after, eltwise_gelu_tanh);
    case kHardSigmoid:
      append(after, eltwise_linear, unary.alpha, unary.beta);
      return append(after, eltwise_clip, 0, 1);
    case kHardSwish:
      return append(after, eltwise_hardswish, 1.0f / 6, 0.5f);
    case kLeakyRelu:
      return append(after, eltwise_relu, unary.alpha);
    case kMish:
      return append(after, eltwise_mish);
    case kSigmoid:
      return append(after, eltwise_logistic);
    case kSilu:
      return append(after, eltwise_swish, 1);
    case kTanh:
      return append(after, eltwise_tanh);
    default:
      throw std::logic_error(std::string(onnx_type(unary)) + " is no activation");
  }
}

}  // namespace

dnnl::post_ops post_operations(bool add_output, const LayerKind* activation) {
  dnnl::post_ops after;
  if (add_output) after.append_sum(1.0f);
  if (activation == nullptr) return after;
  if (const Unary* unary = std::get_if<Unary>(activation)) {
    append(after, *unary);
  } else {
    append(after, dnnl::algorithm::eltwise_relu);
  }
  return after;
}

}  // namespace hios::cpu
