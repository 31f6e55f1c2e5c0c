// Scales, shifts and padding are folded into adjacent convolutions and pools where that computes
// the same, and only there.

#include <limits>

#include "engine/onnx/written_out.h"

namespace hios::test {
namespace {

const std::vector<std::int64_t> kImage{2, 6, 5, 7}, kChannels{6, 1, 1};

std::string conv(Net& n, const std::string& x, std::int64_t out, std::int64_t in,
                 std::int64_t groups, std::int64_t padding) {
  const std::string y = n.op("Conv", {x, n.drawn({out, in / groups, 3, 3})});
  OnnxBuilder::attribute(n.last(), "group", groups);
  OnnxBuilder::attribute(n.last(), "pads", std::vector<std::int64_t>(4, padding));
  return y;
}

/// Applies each function of a constant in turn, with a value per channel or one for all.
std::string scaled(Net& n, std::string y, std::int64_t channels) {
  y = n.op("Mul", {y, n.drawn({1, channels, 1, 1})});
  y = n.op("Add", {n.drawn({channels, 1, 1}), y});
  y = n.op("Sub", {n.constant(3), y});
  y = n.op("Div", {y, n.drawn({channels, 1, 1})});
  return n.op("Sub", {y, n.constant({1}, {0.5f})});
}

TEST(Folding, ScalesAndShiftsGoIntoTheConvolutionBefore) {
  for (const std::int64_t groups : {1, 2, 6}) {
    Net net(kImage);
    scaled(net, conv(net, "x", 12, 6, groups, 1), 12);
    expect_read_as(net, {"Conv"}, std::to_string(groups) + " groups");
    Net transposed(kImage);
    const std::string y = transposed.op("ConvTranspose", {"x", transposed.drawn({6, 2, 3, 3})});
    OnnxBuilder::attribute(transposed.last(), "group", groups);
    scaled(transposed, y, 2 * groups);
    expect_read_as(transposed, {"ConvTranspose"}, std::to_string(groups) + " groups");
  }
  Net rows({2, 5, 8});
  const std::string y = rows.op("MatMul", {"x", rows.drawn({8, 4})});
  rows.op("Mul", {rows.op("Add", {rows.drawn({4}), y}), rows.constant(0.5f)});
  expect_read_as(rows, {"Conv"}, "a product of matrices");
}

TEST(Folding, OtherFunctionsStayAfterTheConvolution) {
  const auto left = [](const char* what, auto&& write) {
    Net net(kImage);
    const std::string y = conv(net, "x", 6, 6, 1, 1);
    write(net, y);
    expect_read_as_written(net, what);
  };
  left("a factor a pixel", [](Net& n, auto& y) { n.op("Mul", {y, n.drawn({1, 1, 5, 7})}); });
  left("a reciprocal", [](Net& n, auto& y) { n.op("Div", {n.drawn(kChannels), y}); });
  left("by zero", [](Net& n, auto& y) { n.op("Div", {y, n.constant(0)}); });
  left("a power", [](Net& n, auto& y) { n.op("Pow", {y, n.constant(2)}); });
  left("more channels", [](Net& n, auto& y) {
    const std::string one = n.op("Conv", {y, n.drawn({1, 6, 1, 1})});
    n.op("Mul", {one, n.drawn(kChannels)});
  });
  left("more channels than a view has of those of the convolution", [](Net& n, auto& y) {
    const std::string pixel = n.op("Conv", {y, n.drawn({6, 6, 5, 7})});
    n.integers("row", {2, 1, 1, 6});
    n.op("Mul", {n.op("Reshape", {pixel, "row"}), n.drawn(kChannels)});
  });
  left("the convolution is read by another", [](Net& n, auto& y) {
    n.op("Add", {n.op("Mul", {y, n.drawn(kChannels)}), y});
  });
}

TEST(Folding, ScalesGoIntoTheConvolutionAfter) {
  for (const std::int64_t groups : {1, 2, 6}) {
    Net net(kImage);
    const std::string centred = net.op("Sub", {"x", net.drawn(kChannels)});
    conv(net, net.op("Div", {centred, net.drawn(kChannels)}), 12, 6, groups, 0);
    expect_read_as(net, {"Conv"}, std::to_string(groups) + " groups");
  }
  // The padding holds zeros and not the shift: the factor is folded, the shift stays.
  Net padded(kImage);
  const std::string centred = padded.op("Sub", {"x", padded.drawn(kChannels)});
  conv(padded, padded.op("Div", {centred, padded.drawn(kChannels)}), 12, 6, 1, 1);
  expect_read_as(padded, {"Sub", "Conv"}, "with padding");
  Net pixels(kImage);
  conv(pixels, pixels.op("Mul", {"x", pixels.drawn({1, 1, 5, 7})}), 12, 6, 1, 0);
  expect_read_as_written(pixels, "a factor a pixel");
  Net wider({2, 1, 5, 7});
  conv(wider, wider.op("Mul", {"x", wider.drawn(kChannels)}), 12, 6, 1, 0);
  expect_read_as_written(wider, "more channels");
  Net view(kImage);
  view.integers("turned", {2, 6, 7, 5});
  const std::string scaled_view = view.op("Mul", {"x", view.drawn(kChannels)});
  conv(view, view.op("Reshape", {scaled_view, "turned"}), 12, 6, 1, 0);
  expect_read_as(view, {"Conv"}, "through a view that keeps channels");
  Net row({2, 6, 1, 1});
  row.integers("row", {2, 1, 1, 6});
  const std::string scaled_row = row.op("Mul", {"x", row.drawn(kChannels)});
  row.op("Conv", {row.op("Reshape", {scaled_row, "row"}), row.drawn({4, 1, 1, 3})});
  expect_read_as_written(row, "fewer channels");
  Net shared(kImage);
  const std::string y = shared.op("Mul", {"x", shared.drawn(kChannels)});
  shared.op("Concat", {conv(shared, y, 6, 6, 1, 1), y});
  OnnxBuilder::attribute(shared.last(), "axis", 1);
  expect_read_as_written(shared, "read by another");
}

std::string padded(Net& n, const std::string& x, const std::vector<std::int64_t>& pads,
                   float value) {
  const std::string name = "pads_of_" + x;
  n.integers(name, pads);
  return n.op("Pad", {x, name, n.constant(value)});
}

std::string pool(Net& n, const std::string& type, const std::string& x,
                 const std::vector<std::int64_t>& own = {0, 0, 0, 0}) {
  const std::string y = n.op(type, {x}, "kernel_shape", {3, 3});
  OnnxBuilder::attribute(n.last(), "pads", own);
  OnnxBuilder::attribute(n.last(), "strides", std::vector<std::int64_t>{2, 2});
  return y;
}

const std::vector<std::int64_t> kUneven{0, 0, 0, 1, 0, 0, 1, 2};

TEST(Folding, PaddingGoesIntoItsConsumers) {
  Net convolution(kImage);
  conv(convolution, padded(convolution, "x", kUneven, 0), 4, 6, 1, 1);
  expect_read_as(convolution, {"Conv"}, "a convolution");
  Net average(kImage);
  pool(average, "AveragePool", padded(average, "x", kUneven, 0));
  expect_read_as(average, {"AveragePool"}, "an average");
  Net counted(kImage);
  pool(counted, "AveragePool", padded(counted, "x", kUneven, 0), {1, 0, 1, 0});
  OnnxBuilder::attribute(counted.last(), "count_include_pad", 1);
  expect_read_as(counted, {"AveragePool"}, "an average that counts its own, too");
  Net lowest(kImage);
  pool(lowest, "MaxPool", padded(lowest, "x", kUneven, -std::numeric_limits<float>::infinity()));
  expect_read_as(lowest, {"MaxPool"}, "a maximum, the lowest values");
  Net positive(kImage);
  pool(positive, "MaxPool", padded(positive, positive.op("Relu", {"x"}), kUneven, 0), {0, 1, 1, 0});
  expect_read_as(positive, {"Relu", "MaxPool"}, "a maximum, nothing below zero");
  Net both(kImage);
  const std::string wide = padded(both, "x", kUneven, 0);
  const std::string a = pool(both, "AveragePool", wide), b = pool(both, "AveragePool", wide);
  both.op("Add", {a, b});
  expect_read_as(both, {"AveragePool", "AveragePool", "Sum"}, "two consumers");
}

TEST(Folding, PaddingStaysWhereAPoolWouldComputeSomethingElse) {
  const auto left = [](const char* what, auto&& write) {
    Net net(kImage);
    write(net);
    expect_read_as_written(net, what);
  };
  left("zeros next to negative values",
       [](Net& n) { pool(n, "MaxPool", padded(n, "x", kUneven, 0)); });
  left("another value",
       [](Net& n) { pool(n, "MaxPool", padded(n, n.op("Relu", {"x"}), kUneven, 0.5f)); });
  left("an average of another value",
       [](Net& n) { pool(n, "AveragePool", padded(n, "x", kUneven, 1)); });
  left("an average that does not count its own", [](Net& n) {
    pool(n, "AveragePool", padded(n, "x", kUneven, 0), {1, 1, 1, 1});
  });
  left("a maximum of values that may be below zero", [](Net& n) {
    const std::string y = n.op("Clip", {"x", n.constant(-1), n.constant(4)});
    pool(n, "MaxPool", padded(n, y, kUneven, 0));
  });
  left("a dilated maximum, whose taps may all miss the image", [](Net& n) {
    pool(n, "MaxPool", padded(n, n.op("Relu", {"x"}), kUneven, 0));
    OnnxBuilder::attribute(n.last(), "dilations", std::vector<std::int64_t>{2, 1});
  });
  left("a window wholly in the padding", [](Net& n) {
    pool(n, "MaxPool", padded(n, n.op("Relu", {"x"}), {0, 0, 3, 0, 0, 0, 0, 0}, 0));
  });
  left("channels", [](Net& n) {
    pool(n, "AveragePool", padded(n, "x", {0, 1, 0, 1, 0, 0, 0, 0}, 0));
  });
  left("read by another, too", [](Net& n) {
    const std::string wide = padded(n, "x", kUneven, 0);
    n.op("Concat", {n.op("Flatten", {pool(n, "AveragePool", wide)}), n.op("Flatten", {wide})});
    OnnxBuilder::attribute(n.last(), "axis", 1);
  });
}

TEST(Folding, PaddingThatIsAnOutputStays) {
  Net net(kImage);
  const std::string wide = padded(net, "x", kUneven, 0);
  net.output(conv(net, wide, 4, 6, 1, 1));
  net.output(wide);
  const Model read = onnx::import_model(net.write());
  ASSERT_EQ(layers_of(read), (Layers{"Pad", "Conv"}));
  const Padding& padding = std::get<Conv>(read.layers().back().kind).padding;
  EXPECT_EQ(padding, (Padding{Extent{1, 1}, Extent{1, 1}})) << "of its own alone";
}

// A last window that begins in the padding at the end would be left out.
TEST(Folding, PaddingStaysWhereAWindowWouldBeLeftOut) {
  Net net({1, 2, 4, 4});
  const std::string y = padded(net, "x", {0, 0, 0, 0, 0, 0, 1, 1}, 0);
  net.op("AveragePool", {y}, "kernel_shape", {2, 2});
  OnnxBuilder::attribute(net.last(), "strides", std::vector<std::int64_t>{2, 2});
  OnnxBuilder::attribute(net.last(), "ceil_mode", 1);
  expect_read_as_written(net, "ceil_mode");
}

}  // namespace
}  // namespace hios::test
