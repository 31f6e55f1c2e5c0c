// Part of hios/onnx/operators/families.h: GridSample of images, by a grid that is constant or that
// the input decides. The pixels are rows of a table, which a Gather looks up; a linear sample is
// the sum of four of them, each with its weight. Zeros outside the image are one more pixel on each
// side, to which coordinates are clamped. Cost: the grid's arithmetic, once for all channels, and
// for a linear sample seven passes over the output.
#include <array>

#include "hios/base/error.h"
#include "hios/onnx/operators/constants/values.h"
#include "hios/onnx/operators/elementwise.h"
#include "hios/onnx/operators/families.h"

namespace hios::onnx {
namespace {

using Mixed = Binary::Function;

/// Indices up to here are exact in fp32.
constexpr std::int64_t kMostPixels = std::int64_t{1} << 24;

/// Names of a mode since opset 20, and before.
bool is_mode(const std::string& mode, const char* name, const char* old_name) {
  return mode == name || mode == old_name;
}

/// The pixels before and after each coordinate along an axis, and how far it is from the first.
struct Neighbours {
  View first, second, rest;
};

class GridSample {
 public:
  GridSample(LayerEmitter& emitter, const Node& node)
      : emitter_(emitter),
        outside_(node.text("padding_mode", "zeros")),
        aligned_(node.integer("align_corners", 0) != 0) {
    const std::string mode = node.text("mode", "linear");
    linear_ = is_mode(mode, "linear", "bilinear");
    if (!linear_ && mode != "nearest")
      node.fail("its mode " + printable(mode, 40) + " is not computed");
    if (outside_ != "zeros" && outside_ != "border" && outside_ != "reflection")
      node.fail("its padding_mode " + printable(outside_, 40) + " is not computed");
    border_ = outside_ == "zeros" ? 1 : 0;
  }

  View of(const View& x, View grid) {
    if (grid.is_constant()) grid = combine(emitter_, Mixed::kAdd, nothing(x), grid);
    const View image = padded(padded(x, 2), 3);
    const std::int64_t rows = image.dims[2], columns = image.dims[3];
    if (x.dims[0] > kMostPixels / (rows * columns))
      emitter_.fail("samples images of more than 2^24 pixels");
    const auto along = [&](std::int64_t which, std::int64_t extent) {
      const View coordinate = remove_axis(slice(grid, 3, which, 1, 1), 3);
      return neighbours(coordinate, extent);
    };
    const Neighbours column = along(0, x.dims[3]), row = along(1, x.dims[2]);
    static constexpr std::size_t kPixelsFirst[] = {0, 2, 3, 1};
    const View table = reshape_to(emitter_, transpose(image, kPixelsFirst),
                                  {x.dims[0] * rows * columns, x.dims[1]});
    const auto at = [&](const View& of_row, const View& of_column) {
      View index = times(of_row, number_view(static_cast<double>(columns)));
      index = plus(index, of_column);
      if (x.dims[0] > 1) index = plus(index, first_pixels(x.dims[0], rows * columns));
      return gather_by_values(emitter_, table, index, 0);
    };
    View sample;
    if (!linear_) {
      sample = at(row.first, column.first);
    } else {
      const auto share = [&](const View& rest, bool second) {
        return second ? rest : combine(emitter_, Mixed::kSub, number_view(1), rest);
      };
      for (const auto& [lower, right] :
           {std::pair(false, false), {false, true}, {true, false}, {true, true}}) {
        const View weight = times(share(row.rest, lower), share(column.rest, right));
        const View pixel = at(lower ? row.second : row.first, right ? column.second : column.first);
        const View term = times(pixel, insert_axis(weight, weight.rank()));
        sample = lower || right ? plus(sample, term) : term;
      }
    }
    static constexpr std::size_t kChannelsFirst[] = {0, 3, 1, 2};
    return transpose(sample, kChannelsFirst);
  }

 private:
  View plus(const View& a, const View& b) { return combine(emitter_, Mixed::kAdd, a, b); }
  View times(const View& a, const View& b) { return combine(emitter_, Mixed::kMul, a, b); }
  View clamped(const View& x, double least, double most) {
    return apply(emitter_,
                 Unary{Unary::Function::kClip, static_cast<float>(least), static_cast<float>(most)},
                 x);
  }
  View padded(const View& x, std::size_t axis) {
    return padded_along(emitter_, x, axis, border_, border_, 0);
  }

  /// Returns (N, 1, 1, 1) zeros that are computed, so that constants may be added to them.
  View nothing(const View& x) {
    View one = x;
    for (std::size_t axis = 1; axis < 4; ++axis) one = slice(one, axis, 0, 1, 1);
    return combine(emitter_, Mixed::kLess, one, one);
  }

  /// Returns the number of the first pixel of each image, as (N, 1, 1).
  static View first_pixels(std::int64_t images, std::int64_t pixels) {
    Constant numbers;
    for (std::int64_t n = 0; n < images; ++n)
      numbers.floats.push_back(static_cast<float>(n * pixels));
    return constant_view(std::move(numbers), {images, 1, 1});
  }

  /// Mirrors coordinates at the image's outer pixels, or at their outer edges.
  View mirrored(const View& x, double extent) {
    const double least = aligned_ ? 0 : -0.5, span = aligned_ ? extent - 1 : extent;
    if (span == 0) return times(x, number_view(0));
    const View from = plus(x, number_view(-least));
    const View turns =
        apply(emitter_, Unary{Unary::Function::kFloor}, times(from, number_view(0.5 / span)));
    const View way = combine(emitter_, Mixed::kSub, from, times(turns, number_view(2 * span)));
    const View back = apply(emitter_, Unary{Unary::Function::kAbs}, plus(way, number_view(-span)));
    return combine(emitter_, Mixed::kSub, number_view(least + span), back);
  }

  /// Returns the neighbours of coordinates between -1 and 1, counted in the padded image.
  Neighbours neighbours(const View& coordinate, std::int64_t pixels) {
    const auto extent = static_cast<double>(pixels);
    const double scale = aligned_ ? (extent - 1) / 2 : extent / 2;
    View x = plus(times(coordinate, number_view(scale)), number_view((extent - 1) / 2));
    if (outside_ == "reflection") x = mirrored(x, extent);
    if (!linear_) x = apply(emitter_, Unary{Unary::Function::kRound}, x);
    const auto border = static_cast<double>(border_);
    x = clamped(x, -border, extent - 1 + border);
    if (border_ > 0) x = plus(x, number_view(border));
    if (!linear_) return {x, {}, {}};
    const View first = apply(emitter_, Unary{Unary::Function::kFloor}, x);
    return {first, clamped(plus(first, number_view(1)), 0, extent - 1 + 2 * border),
            combine(emitter_, Mixed::kSub, x, first)};
  }

  LayerEmitter& emitter_;
  std::string outside_;
  bool aligned_, linear_ = true;
  std::int64_t border_ = 0;  ///< pixels of zeros around the image
};

Views grid_sample(LayerEmitter& emitter, const Node& node) {
  const View &x = node.input(0), &grid = node.input(1);
  if (x.rank() != 4 || grid.rank() != 4) node.fail("samples images: four dimensions");
  if (grid.dims[3] != 2 || grid.dims[0] != x.dims[0])
    node.fail("needs a grid of two coordinates for each image");
  return {GridSample(emitter, node).of(x, grid)};
}

}  // namespace

void add_grid_samples(Operators& operators) {
  operators["GridSample"] = {.emit = grid_sample,
                             .attributes = {.read = {"align_corners", "mode", "padding_mode"}}};
}

}  // namespace hios::onnx
