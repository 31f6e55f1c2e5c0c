// GridSample in all its modes, by constant and by computed grids, against plain loops.

#include <algorithm>
#include <cmath>

#include "engine/onnx/tables.h"
#include "hios/base/error.h"
#include "support/expect_error.h"

namespace hios::test {
namespace {

/// How an image is sampled, and its values in plain loops.
struct Sampling {
  const char *mode, *outside;
  bool aligned;

  static std::int64_t whole(double value) { return static_cast<std::int64_t>(value); }
  double pixel(const Table& x, std::int64_t n, std::int64_t c, std::int64_t h,
               std::int64_t w) const {
    const std::int64_t rows = x.dims[2], columns = x.dims[3];
    const bool inside = h >= 0 && w >= 0 && h < rows && w < columns;
    if (!inside && std::string(outside) == "zeros") return 0;
    return x.at({n, c, std::clamp<std::int64_t>(h, 0, rows - 1),
                 std::clamp<std::int64_t>(w, 0, columns - 1)});
  }
  double coordinate(double at, std::int64_t pixels) const {
    const auto extent = static_cast<double>(pixels);
    double u = aligned ? (at + 1) / 2 * (extent - 1) : ((at + 1) * extent - 1) / 2;
    const double least = aligned ? 0 : -0.5, most = aligned ? extent - 1 : extent - 0.5;
    while (std::string(outside) == "reflection" && (u < least || u > most))
      u = u < least ? 2 * least - u : 2 * most - u;
    return u;
  }
  double at(const Table& x, std::int64_t n, std::int64_t c, double row, double column) const {
    const double v = coordinate(row, x.dims[2]), u = coordinate(column, x.dims[3]);
    if (std::string(mode) == "nearest")
      return pixel(x, n, c, whole(std::nearbyint(v)), whole(std::nearbyint(u)));
    const double top = std::floor(v), left = std::floor(u), down = v - top, right = u - left;
    double sum = 0;
    for (const int below : {0, 1}) {
      for (const int next : {0, 1}) {
        sum += (below ? down : 1 - down) * (next ? right : 1 - right) *
               pixel(x, n, c, whole(top) + below, whole(left) + next);
      }
    }
    return sum;
  }
};

void add_sample(Net& net, const std::string& image, const std::string& grid,
                const Sampling& sampling) {
  net.op("GridSample", {image, grid});
  const auto text = [&](const char* name, const char* value) {
    proto::AttributeProto& added = *net.last().add_attribute();
    added.set_name(name);
    added.set_type(proto::AttributeProto::STRING);
    added.set_s(value);
  };
  text("mode", sampling.mode);
  text("padding_mode", sampling.outside);
  OnnxBuilder::attribute(net.last(), "align_corners", sampling.aligned ? 1 : 0);
}

/// Points that reach beyond the image.
Table points(const List& dims) {
  double at = 0.3;
  return table_of(dims, [&](const List&) { return 1.7 * std::sin(at += 0.83); });
}

std::vector<Sampling> all_samplings() {
  std::vector<Sampling> all;
  for (const char* mode : {"linear", "nearest"}) {
    for (const char* outside : {"zeros", "border", "reflection"}) {
      for (const bool aligned : {false, true}) all.push_back({mode, outside, aligned});
    }
  }
  return all;
}

/// Samples two images of three channels, 5x4, by a constant grid or one that depends on the input.
void expect_samples(const Sampling& sampling, bool computed) {
  SCOPED_TRACE(std::string(sampling.mode) + ", " + sampling.outside +
               (sampling.aligned ? ", aligned" : "") + (computed ? ", computed" : ""));
  const Table flat = wide_input({2, 60}), x{{2, 3, 5, 4}, flat.values};
  Table grid = points({2, 3, 4, 2});
  Net net(flat.dims);
  net.model.mutable_opset_import(0)->set_version(20);
  std::string of = table_constant(net, grid);
  if (computed) {
    const float most = *std::ranges::max_element(flat.values);
    for (float& value : grid.values) value *= most / 4;
    const std::string largest = net.op("ReduceMax", {"x"});
    OnnxBuilder::attribute(net.last(), "keepdims", 0);
    of = net.op("Mul", {of, net.op("Mul", {largest, net.constant(0.25f)})});
  }
  add_sample(net, net.op("Reshape", {"x", integer_table(net, {4}, x.dims)}), of, sampling);
  expect_values(net, table_of({2, 3, 3, 4}, [&](const List& at) {
                  const double column = grid.at({at[0], at[2], at[3], 0}),
                               row = grid.at({at[0], at[2], at[3], 1});
                  return sampling.at(x, at[0], at[1], row, column);
                }));
}

TEST(GridSamples, AreThoseOfPlainLoops) {
  for (const Sampling& sampling : all_samplings()) expect_samples(sampling, false);
}

TEST(GridSamples, TakeComputedGrids) {
  for (const Sampling& sampling : all_samplings()) expect_samples(sampling, true);
}

TEST(GridSamples, RefuseOtherModesAndRanks) {
  const auto refused = [](const List& dims, const List& grid, const Sampling& sampling,
                          const char* message) {
    Net net(dims);
    net.model.mutable_opset_import(0)->set_version(20);
    add_sample(net, "x", table_constant(net, points(grid)), sampling);
    net.output(net.last().output(0));
    expect_error<InputError>([&] { onnx::import_model(net.write()); }, {message});
  };
  refused({1, 2, 4, 4}, {1, 3, 3, 2}, {"cubic", "zeros", false},
          "(GridSample): its mode cubic is not computed");
  refused({1, 2, 4, 4}, {1, 3, 3, 2}, {"linear", "wrap", false},
          "its padding_mode wrap is not computed");
  refused({1, 2, 4, 4}, {1, 3, 3, 3}, {"linear", "zeros", false},
          "needs a grid of two coordinates for each image");
  refused({1, 2, 4, 4, 4}, {1, 3, 3, 3, 3}, {"linear", "zeros", false},
          "samples images: four dimensions");
  refused({1, 1, 4100, 4100}, {1, 3, 3, 2}, {"linear", "zeros", false},
          "samples images of more than 2^24 pixels");
}

}  // namespace
}  // namespace hios::test
