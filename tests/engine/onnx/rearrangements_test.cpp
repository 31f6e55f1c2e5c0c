// SpaceToDepth and DepthToSpace in both orders of channels, compared with their definitions, and
// remainders of constants in both roundings.

#include "engine/onnx/written_out.h"
#include "support/expect_error.h"

namespace hios::test {
namespace {

void text(proto::NodeProto& node, const char* name, const std::string& value) {
  proto::AttributeProto& added = *node.add_attribute();
  added.set_name(name);
  added.set_type(proto::AttributeProto::STRING);
  added.set_s(value);
}

/// Returns the input of first_output(), row-major.
std::vector<float> input_of(const Model& model) {
  std::vector<float> memory(static_cast<std::size_t>(model.tensor(model.input()).shape.elements()));
  WideInput().input(model, memory);
  return in_row_major_order(std::move(memory), model.named_inputs()[0].dims);
}

/// Moves blocks of b x b pixels into channels: the channel of pixel (i, j) of a block is
/// (i·b + j)·C + c by DCR, c·b² + i·b + j by CRD.
std::vector<float> blocks_as_channels(const std::vector<float>& x,
                                      const std::vector<std::int64_t>& dims, std::int64_t b,
                                      bool column_row) {
  const std::int64_t channels = dims[1], height = dims[2], width = dims[3];
  std::vector<float> result(x.size());
  for (std::size_t at = 0; at < x.size(); ++at) {
    const auto index = static_cast<std::int64_t>(at);
    const std::int64_t w = index % width, h = index / width % height,
                       c = index / (width * height) % channels,
                       n = index / (width * height * channels);
    const std::int64_t in_block = h % b * b + w % b;
    const std::int64_t channel = column_row ? c * b * b + in_block : in_block * channels + c;
    const std::int64_t to =
        ((n * channels * b * b + channel) * (height / b) + h / b) * (width / b) + w / b;
    result[static_cast<std::size_t>(to)] = x[at];
  }
  return result;
}

TEST(Rearrangements, BlocksBecomeChannelsInBothOrders) {
  const std::vector<std::int64_t> dims{2, 3, 4, 6};
  for (const char* mode : {"DCR", "CRD", ""}) {
    for (const std::int64_t b : {1, 2}) {
      SCOPED_TRACE(std::string(mode) + ", blocks of " + std::to_string(b));
      Net net(dims);
      net.model.mutable_opset_import(0)->set_version(28);
      const std::string deep = net.op("SpaceToDepth", {"x"});
      OnnxBuilder::attribute(net.last(), "blocksize", b);
      if (*mode != '\0') text(net.last(), "mode", mode);
      net.output(deep);
      const Model model = onnx::import_model(net.write());
      const auto& wide = model.named_outputs().front().dims;
      ASSERT_EQ(wide, (std::vector<std::int64_t>{2, 3 * b * b, 4 / b, 6 / b}));
      EXPECT_EQ(in_row_major_order(first_output(model), wide),
                blocks_as_channels(input_of(model), dims, b, std::string(mode) == "CRD"));
      // DepthToSpace of the same mode moves the values back.
      net.op("DepthToSpace", {deep});
      OnnxBuilder::attribute(net.last(), "blocksize", b);
      if (*mode != '\0') text(net.last(), "mode", mode);
      net.graph().clear_output();
      net.output(net.last().output(0));
      const Model back = onnx::import_model(net.write());
      EXPECT_EQ(in_row_major_order(first_output(back), dims), input_of(back));
    }
  }
}

/// Returns the extents to which a Reshape by these folded integers leads.
std::vector<std::int64_t> reshaped_by(std::int64_t a, std::int64_t b, std::optional<int> fmod) {
  Net net({1, 12});
  net.integers("a", {a}), net.integers("b", {b}), net.integers("rest", {-1});
  const std::string remainder = net.op("Mod", {"a", "b"});
  if (fmod) OnnxBuilder::attribute(net.last(), "fmod", *fmod);
  net.integers("more", {4});
  const std::string sum = net.op("Add", {remainder, "more"});
  const std::string extents = net.op("Concat", {sum, "rest"});
  OnnxBuilder::attribute(net.last(), "axis", 0);
  net.output(net.op("Reshape", {"x", extents}));
  return onnx::import_model(net.write()).named_outputs().front().dims;
}

TEST(Rearrangements, RemaindersAreRoundedAsTheirAttributeSays) {
  using Dims = std::vector<std::int64_t>;
  EXPECT_EQ(reshaped_by(-7, 3, {}), (Dims{6, 2})) << "2 + 4: the sign is the divisor's";
  EXPECT_EQ(reshaped_by(-7, 3, 0), (Dims{6, 2}));
  EXPECT_EQ(reshaped_by(-7, 3, 1), (Dims{3, 4})) << "-1 + 4: the sign is the dividend's";
}

// A product along some axes is not one of all values.
TEST(Rearrangements, ProductsAlongAxesAreNotThoseOfAll) {
  Net net({1, 24});
  net.integers("extents", {2, 3}), net.integers("axis", {0}), net.integers("rest", {-1});
  net.integers("one row", {1, 2});
  net.model.mutable_opset_import(0)->set_version(18);
  const std::string product =
      net.op("ReduceProd", {net.op("Reshape", {"extents", "one row"}), "axis"});
  OnnxBuilder::attribute(net.last(), "keepdims", 0);
  const std::string extents = net.op("Concat", {product, "rest"});
  OnnxBuilder::attribute(net.last(), "axis", 0);
  net.output(net.op("Reshape", {"x", extents}));
  EXPECT_EQ(onnx::import_model(net.write()).named_outputs().front().dims,
            (std::vector<std::int64_t>{2, 3, 4}));
}

}  // namespace
}  // namespace hios::test
