// Part of hios/model/networks/networks.h.

/// SqueezeNet 1.0 with complex bypass (Iandola et al., 2016): fire modules, each with a bypass
/// around it; where the channels change, the bypass is a 1x1 convolution. 50 operators, 65
/// dependencies; tests/hios/model/networks/networks_test.cpp compares each with the reference
/// graph.
#include "hios/model/networks/block.h"
#include "hios/model/networks/networks.h"

namespace hios::models {
namespace {

/// Adds a fire module: squeeze 1x1, then expand by parallel 3x3 and 1x1, plus the bypass.
TensorId fire(ModelBuilder& model, const std::string& name, TensorId x, std::int64_t squeeze,
              std::int64_t expand) {
  Block block(model, name);
  const TensorId squeezed = block.conv_relu("squeeze1x1", x, same(squeeze, {1, 1}));
  const TensorId wide = block.conv_relu("expand3x3", squeezed, same(expand, {3, 3}));
  const TensorId narrow = block.conv_relu("expand1x1", squeezed, same(expand, {1, 1}));
  const TensorId expanded = block.concat("concat", {wide, narrow});
  const TensorId bypass =
      block.channels(x) == 2 * expand ? x : block.conv_relu("bypass", x, same(2 * expand, {1, 1}));
  return block.sum("sum", {expanded, bypass});
}

TensorId pool(ModelBuilder& model, const std::string& name, TensorId x) {
  return Block(model, name).max_pool("pool", x, 2);
}

}  // namespace

Model squeezenet(std::int64_t batch, std::int64_t height, std::int64_t width) {
  ModelBuilder model("squeezenet", {batch, 3, height, width});
  Block stem(model, "stem");
  TensorId x = stem.conv_relu("conv1", model.input(), same(96, {7, 7}, 2));
  x = stem.max_pool("pool1", x, 2);

  x = fire(model, "fire2", x, 16, 64);
  x = fire(model, "fire3", x, 16, 64);
  x = fire(model, "fire4", x, 32, 128);
  x = pool(model, "pool4", x);
  x = fire(model, "fire5", x, 32, 128);
  x = fire(model, "fire6", x, 48, 192);
  x = fire(model, "fire7", x, 48, 192);
  x = fire(model, "fire8", x, 64, 256);
  x = pool(model, "pool8", x);
  x = fire(model, "fire9", x, 64, 256);

  Block head(model, "head");
  x = head.conv_relu("conv10", x, same(1000, {1, 1}));
  head.global_average_pool("pool10", x);
  return std::move(model).build();
}

}  // namespace hios::models
