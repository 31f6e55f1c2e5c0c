// Where the maxima of a MaxPool lie, and MaxUnpool, which puts values back there, against plain
// loops.

#include <limits>

#include "engine/onnx/tables.h"
#include "hios/base/error.h"
#include "support/expect_error.h"

namespace hios::test {
namespace {

struct Slide {
  List kernel, strides, pads, dilations;
  bool ceil = false, by_columns = false;
};

void set_attributes(Net& net, const Slide& slide) {
  OnnxBuilder::attribute(net.last(), "kernel_shape", slide.kernel);
  OnnxBuilder::attribute(net.last(), "strides", slide.strides);
  OnnxBuilder::attribute(net.last(), "pads", slide.pads);
}

/// Adds a MaxPool of `x` and returns the name of its positions.
std::string add_pool(Net& net, const std::string& x, const Slide& slide) {
  net.op("MaxPool", {x});
  set_attributes(net, slide);
  OnnxBuilder::attribute(net.last(), "dilations", slide.dilations);
  OnnxBuilder::attribute(net.last(), "ceil_mode", slide.ceil ? 1 : 0);
  OnnxBuilder::attribute(net.last(), "storage_order", slide.by_columns ? 1 : 0);
  net.last().add_output("positions");
  return "positions";
}

/// Returns the input's values, whole numbers, many of them equal (after a Round), as (N, C, H, W).
Table rounded_image(const List& dims) {
  Table given = wide_input(dims);
  if (dims.size() == 4) given.values = in_row_major_order(given.values, dims);
  return table_of(dims, [&](const List& at) { return std::nearbyint(given.at(at)); });
}

std::int64_t extent_of(const Slide& slide, std::size_t axis, std::int64_t extent) {
  const std::int64_t reach = (slide.kernel[axis] - 1) * slide.dilations[axis] + 1;
  const std::int64_t room = extent + slide.pads[axis] + slide.pads[axis + 2] - reach;
  return (room + (slide.ceil ? slide.strides[axis] - 1 : 0)) / slide.strides[axis] + 1;
}

/// Returns the position of the first largest value of a window, and the value.
std::pair<std::int64_t, float> first_largest(const Table& x, const Slide& slide, const List& at) {
  const std::int64_t height = x.dims[2], width = x.dims[3];
  float most = -std::numeric_limits<float>::infinity();
  std::int64_t found = -1;
  for (const List& tap : indices_in(slide.kernel)) {
    const std::int64_t h = at[2] * slide.strides[0] + tap[0] * slide.dilations[0] - slide.pads[0];
    const std::int64_t w = at[3] * slide.strides[1] + tap[1] * slide.dilations[1] - slide.pads[1];
    if (h < 0 || h >= height || w < 0 || w >= width) continue;
    if (x.at({at[0], at[1], h, w}) <= most) continue;
    most = x.at({at[0], at[1], h, w});
    const std::int64_t in_image = slide.by_columns ? w * height + h : h * width + w;
    found = (at[0] * x.dims[1] + at[1]) * height * width + in_image;
  }
  return {found, most};
}

TEST(PoolPositions, AreThoseOfTheFirstLargestValues) {
  const Table x = rounded_image({2, 3, 7, 6});
  for (const Slide& slide :
       {Slide{{2, 2}, {2, 2}, {0, 0, 0, 0}, {1, 1}}, Slide{{3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}},
        Slide{{3, 2}, {1, 2}, {1, 0, 2, 1}, {2, 1}},
        Slide{{3, 3}, {2, 2}, {0, 1, 0, 1}, {1, 2}, true},
        Slide{{2, 3}, {3, 1}, {0, 0, 0, 0}, {1, 1}, false, true}}) {
    Net net(x.dims);
    add_pool(net, net.op("Round", {"x"}), slide);
    net.op("Identity", {"positions"});
    const List dims{2, 3, extent_of(slide, 0, 7), extent_of(slide, 1, 6)};
    expect_values(net, table_of(dims, [&](const List& at) {
                    return static_cast<double>(first_largest(x, slide, at).first);
                  }));
  }
}

TEST(PoolPositions, AreFoundInRows) {
  const Table x = rounded_image({2, 3, 9});
  Net net(x.dims);
  net.op("MaxPool", {net.op("Round", {"x"})});
  OnnxBuilder::attribute(net.last(), "kernel_shape", List{3});
  OnnxBuilder::attribute(net.last(), "strides", List{2});
  net.last().add_output("positions");
  net.op("Identity", {"positions"});
  const Table image{{2, 3, 1, 9}, x.values};
  const Slide slide{{1, 3}, {1, 2}, {0, 0, 0, 0}, {1, 1}};
  expect_values(
      net, table_of({2, 3, 4}, [&](const List& at) {
        return static_cast<double>(first_largest(image, slide, {at[0], at[1], 0, at[2]}).first);
      }));
}

/// Adds a MaxPool of rounded values and MaxUnpool of their negatives, with these extents if any.
void add_unpool(Net& net, const Slide& slide, const List& dims) {
  const std::string positions = add_pool(net, net.op("Round", {"x"}), slide);
  const std::string most = net.last().output(0);
  std::vector<std::string> inputs{net.op("Neg", {most}), positions};
  if (!dims.empty()) inputs.push_back(integer_table(net, {4}, dims));
  net.op("MaxUnpool", inputs);
  set_attributes(net, slide);
}

TEST(PoolPositions, PutValuesBack) {
  const Slide slide{{2, 2}, {2, 3}, {0, 0, 0, 0}, {1, 1}};
  for (const bool larger : {false, true}) {
    // Without its shape an output is as large as the windows, and positions count in it.
    const List dims{2, 3, larger ? 7 : 6, larger ? 10 : 8};
    const Table x = rounded_image(dims);
    Net net(x.dims);
    add_unpool(net, slide, larger ? dims : List{});
    Table wanted = table_of(dims, [](const List&) { return 0; });
    for (const List& at : indices_in({2, 3, 3, 3})) {
      const auto [found, value] = first_largest(x, slide, at);
      wanted.values[static_cast<std::size_t>(found)] = -value;
    }
    expect_values(net, wanted);
  }
}

TEST(PoolPositions, AreRefusedInVolumesAndWhereWindowsOverlap) {
  const auto expect_refused = [](Net& net, const std::string& message) {
    net.output(net.last().output(0));
    expect_error<InputError>([&] { onnx::import_model(net.write()); }, {message});
  };
  Net volume({1, 2, 6, 6, 6});
  volume.op("MaxPool", {"x"});
  OnnxBuilder::attribute(volume.last(), "kernel_shape", List{2, 2, 2});
  volume.last().add_output("positions");
  volume.op("Identity", {"positions"});
  expect_refused(volume, "gives its values alone: export it without indices, or cut the file");

  Net overlap({1, 2, 6, 6});
  add_unpool(overlap, {{3, 3}, {2, 2}, {0, 0, 0, 0}, {1, 1}}, {});
  expect_refused(overlap, "(MaxUnpool): is not computed for windows that overlap");

  Net small({1, 2, 6, 6});
  add_unpool(small, {{2, 2}, {2, 2}, {0, 0, 0, 0}, {1, 1}}, {1, 2, 6, 5});
  expect_refused(small, "(MaxUnpool): its output_shape must have");
}

}  // namespace
}  // namespace hios::test
