#include "hios/model/networks/block.h"

#include <utility>

namespace hios::models {

Conv same(std::int64_t out_channels, Extent kernel, std::int64_t stride) {
  Conv conv = valid(out_channels, kernel, stride);
  conv.padding = {(kernel.h - 1) / 2, (kernel.w - 1) / 2};
  return conv;
}

Conv valid(std::int64_t out_channels, Extent kernel, std::int64_t stride) {
  Conv conv;
  conv.out_channels = out_channels;
  conv.kernel = kernel;
  conv.stride = {stride, stride};
  conv.padding = {0, 0};
  return conv;
}

Block::Block(ModelBuilder& model, std::string name) : model_(model), prefix_(name + "/") {
  model_.begin_block(std::move(name));
}

TensorId Block::conv_relu(const std::string& name, TensorId x, const Conv& conv) {
  return relu(name + "/relu", this->conv(name + "/conv", x, conv));
}

TensorId Block::conv(const std::string& name, TensorId x, const Conv& conv) {
  return model_.conv(full(name), x, conv);
}

TensorId Block::relu_conv(const std::string& name, TensorId x, const Conv& conv) {
  return this->conv(name + "/conv", relu(name + "/relu", x), conv);
}

TensorId Block::relu_sepconv(const std::string& name, TensorId x, std::int64_t out_channels,
                             std::int64_t kernel, std::int64_t stride) {
  Conv depthwise = same(channels(x), {kernel, kernel}, stride);
  depthwise.groups = channels(x);
  depthwise.bias = false;  // the batch norm, and with it the bias, comes after the pointwise
  const TensorId filtered = conv(name + "/depthwise", relu(name + "/relu", x), depthwise);
  return conv(name + "/pointwise", filtered, valid(out_channels, {1, 1}));
}

TensorId Block::max_pool(const std::string& name, TensorId x, std::int64_t stride,
                         std::int64_t padding) {
  return model_.pool(full(name), x,
                     {Pool::Kind::kMax, {3, 3}, {stride, stride}, {padding, padding}});
}

TensorId Block::average_pool(const std::string& name, TensorId x, std::int64_t stride) {
  return model_.pool(full(name), x, {Pool::Kind::kAverage, {3, 3}, {stride, stride}, {1, 1}});
}

TensorId Block::global_average_pool(const std::string& name, TensorId x) {
  return model_.global_average_pool(full(name), x);
}

TensorId Block::relu(const std::string& name, TensorId x) { return model_.relu(full(name), x); }

TensorId Block::sum(const std::string& name, std::vector<TensorId> xs) {
  return model_.sum(full(name), std::move(xs));
}

TensorId Block::concat(const std::string& name, std::vector<TensorId> xs) {
  return model_.concat(full(name), std::move(xs));
}

}  // namespace hios::models
