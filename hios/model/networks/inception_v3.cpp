// Part of hios/model/networks/networks.h.

/// Inception-v3 (Szegedy et al., 2015), up to global average pooling: a stem, eleven inception
/// blocks of five kinds, named as in the published implementations ("mixed_5b" … "mixed_7c"). Batch
/// norms are folded, so every convolution is conv + bias + relu. 119 operators, 153 dependencies;
/// tests/hios/model/networks/networks_test.cpp compares each with the reference graph. The smallest
/// input is 75x75: below it a window of the last reduction does not fit.
#include "hios/model/networks/block.h"
#include "hios/model/networks/networks.h"

namespace hios::models {
namespace {

TensorId stem(ModelBuilder& model) {
  Block block(model, "stem");
  TensorId x = block.conv_relu("conv_1a_3x3", model.input(), valid(32, {3, 3}, 2));
  x = block.conv_relu("conv_2a_3x3", x, valid(32, {3, 3}));
  x = block.conv_relu("conv_2b_3x3", x, same(64, {3, 3}));
  x = block.max_pool("pool_1", x, 2);
  x = block.conv_relu("conv_3b_1x1", x, valid(80, {1, 1}));
  x = block.conv_relu("conv_4a_3x3", x, valid(192, {3, 3}));
  return block.max_pool("pool_2", x, 2);
}

/// Adds a block at 35x35: 1x1; 5x5; two 3x3; pool.
TensorId inception_a(ModelBuilder& model, const std::string& name, TensorId x,
                     std::int64_t pool_channels) {
  Block block(model, name);
  const TensorId one = block.conv_relu("branch1x1", x, same(64, {1, 1}));

  TensorId five = block.conv_relu("branch5x5_1", x, same(48, {1, 1}));
  five = block.conv_relu("branch5x5_2", five, same(64, {5, 5}));

  TensorId three = block.conv_relu("branch3x3dbl_1", x, same(64, {1, 1}));
  three = block.conv_relu("branch3x3dbl_2", three, same(96, {3, 3}));
  three = block.conv_relu("branch3x3dbl_3", three, same(96, {3, 3}));

  TensorId pooled = block.average_pool("pool", x);
  pooled = block.conv_relu("branch_pool", pooled, same(pool_channels, {1, 1}));
  return block.concat("concat", {one, five, three, pooled});
}

/// Adds the reduction from 35x35 to 17x17.
TensorId reduction_b(ModelBuilder& model, const std::string& name, TensorId x) {
  Block block(model, name);
  const TensorId three = block.conv_relu("branch3x3", x, valid(384, {3, 3}, 2));

  TensorId twice = block.conv_relu("branch3x3dbl_1", x, same(64, {1, 1}));
  twice = block.conv_relu("branch3x3dbl_2", twice, same(96, {3, 3}));
  twice = block.conv_relu("branch3x3dbl_3", twice, valid(96, {3, 3}, 2));

  const TensorId pooled = block.max_pool("pool", x, 2);
  return block.concat("concat", {three, twice, pooled});
}

/// Adds a block at 17x17: a 7x7 factorised into 1x7 and 7x1, once and twice.
TensorId inception_c(ModelBuilder& model, const std::string& name, TensorId x,
                     std::int64_t channels) {
  Block block(model, name);
  const TensorId one = block.conv_relu("branch1x1", x, same(192, {1, 1}));

  TensorId seven = block.conv_relu("branch7x7_1", x, same(channels, {1, 1}));
  seven = block.conv_relu("branch7x7_2", seven, same(channels, {1, 7}));
  seven = block.conv_relu("branch7x7_3", seven, same(192, {7, 1}));

  TensorId twice = block.conv_relu("branch7x7dbl_1", x, same(channels, {1, 1}));
  twice = block.conv_relu("branch7x7dbl_2", twice, same(channels, {7, 1}));
  twice = block.conv_relu("branch7x7dbl_3", twice, same(channels, {1, 7}));
  twice = block.conv_relu("branch7x7dbl_4", twice, same(channels, {7, 1}));
  twice = block.conv_relu("branch7x7dbl_5", twice, same(192, {1, 7}));

  TensorId pooled = block.average_pool("pool", x);
  pooled = block.conv_relu("branch_pool", pooled, same(192, {1, 1}));
  return block.concat("concat", {one, seven, twice, pooled});
}

/// Adds the reduction from 17x17 to 8x8.
TensorId reduction_d(ModelBuilder& model, const std::string& name, TensorId x) {
  Block block(model, name);
  TensorId three = block.conv_relu("branch3x3_1", x, same(192, {1, 1}));
  three = block.conv_relu("branch3x3_2", three, valid(320, {3, 3}, 2));

  TensorId seven = block.conv_relu("branch7x7x3_1", x, same(192, {1, 1}));
  seven = block.conv_relu("branch7x7x3_2", seven, same(192, {1, 7}));
  seven = block.conv_relu("branch7x7x3_3", seven, same(192, {7, 1}));
  seven = block.conv_relu("branch7x7x3_4", seven, valid(192, {3, 3}, 2));

  const TensorId pooled = block.max_pool("pool", x, 2);
  return block.concat("concat", {three, seven, pooled});
}

/// Adds a block at 8x8: the 3x3 split into parallel 1x3 and 3x1.
TensorId inception_e(ModelBuilder& model, const std::string& name, TensorId x) {
  Block block(model, name);
  const TensorId one = block.conv_relu("branch1x1", x, same(320, {1, 1}));

  const TensorId three = block.conv_relu("branch3x3_1", x, same(384, {1, 1}));
  const TensorId three_a = block.conv_relu("branch3x3_2a", three, same(384, {1, 3}));
  const TensorId three_b = block.conv_relu("branch3x3_2b", three, same(384, {3, 1}));

  TensorId twice = block.conv_relu("branch3x3dbl_1", x, same(448, {1, 1}));
  twice = block.conv_relu("branch3x3dbl_2", twice, same(384, {3, 3}));
  const TensorId twice_a = block.conv_relu("branch3x3dbl_3a", twice, same(384, {1, 3}));
  const TensorId twice_b = block.conv_relu("branch3x3dbl_3b", twice, same(384, {3, 1}));

  TensorId pooled = block.average_pool("pool", x);
  pooled = block.conv_relu("branch_pool", pooled, same(192, {1, 1}));
  return block.concat("concat", {one, three_a, three_b, twice_a, twice_b, pooled});
}

}  // namespace

Model inception_v3(std::int64_t batch, std::int64_t height, std::int64_t width) {
  ModelBuilder model("inception_v3", {batch, 3, height, width});
  TensorId x = stem(model);
  x = inception_a(model, "mixed_5b", x, 32);
  x = inception_a(model, "mixed_5c", x, 64);
  x = inception_a(model, "mixed_5d", x, 64);
  x = reduction_b(model, "mixed_6a", x);
  x = inception_c(model, "mixed_6b", x, 128);
  x = inception_c(model, "mixed_6c", x, 160);
  x = inception_c(model, "mixed_6d", x, 160);
  x = inception_c(model, "mixed_6e", x, 192);
  x = reduction_d(model, "mixed_7a", x);
  x = inception_e(model, "mixed_7b", x);
  x = inception_e(model, "mixed_7c", x);
  Block(model, "head").global_average_pool("pool", x);
  return std::move(model).build();
}

}  // namespace hios::models
