// Cases of every way to resize an image, up and down (layer_case_lists.h).
#include "hios/model/layer_fields.h"
#include "support/layers/layer_case_lists.h"

namespace hios::test {
namespace {

struct Resizing {
  const char* name;
  Shape input;
  Extent size;
  double scale_h = 0, scale_w = 0;  ///< 0: from the sizes
};
const Resizing kResizings[] = {
    {"up", {1, 3, 4, 5}, {7, 9}},
    {"double", {2, 5, 3, 4}, {6, 8}},
    {"down", {1, 3, 7, 9}, {4, 5}},
    {"half", {1, 7, 6, 8}, {3, 4}},
    {"up_and_down", {1, 4, 3, 8}, {8, 3}},
    {"to_a_pixel", {1, 3, 5, 4}, {1, 1}},
    {"from_a_pixel", {1, 3, 1, 1}, {3, 4}},
    {"scale_that_does_not_divide", {1, 3, 5, 7}, {8, 4}, 1.7, 0.6},
};

void add_one(Cases& cases, std::string name, const Resizing& to, Resize resize) {
  resize.size = to.size;
  resize.scale_h = to.scale_h > 0
                       ? to.scale_h
                       : static_cast<double>(to.size.h) / static_cast<double>(to.input.h);
  resize.scale_w = to.scale_w > 0
                       ? to.scale_w
                       : static_cast<double>(to.size.w) / static_cast<double>(to.input.w);
  add_layer(cases, std::move(name) + '_' + to.name, {to.input}, resize);
}

}  // namespace

void add_resize_cases(Cases& cases) {
  const auto& coordinates = Names<Resize::Coordinates>::kAll;
  const auto& nearests = Names<Resize::Nearest>::kAll;
  for (std::size_t c = 0; c < coordinates.size(); ++c) {
    Resize resize;
    resize.coordinates = static_cast<Resize::Coordinates>(c);
    const std::string by = '_' + std::string(coordinates[c]);
    for (const Resizing& to : kResizings) {
      for (std::size_t n = 0; n < nearests.size(); ++n) {
        resize.mode = Resize::Mode::kNearest;
        resize.nearest = static_cast<Resize::Nearest>(n);
        add_one(cases, "resize_nearest_" + std::string(nearests[n]) + by, to, resize);
      }
      resize.nearest = Resize::Nearest::kRoundPreferFloor;
      resize.mode = Resize::Mode::kLinear;
      add_one(cases, "resize_linear" + by, to, resize);
      resize.mode = Resize::Mode::kCubic;
      add_one(cases, "resize_cubic" + by, to, resize);
      resize.exclude_outside = true;
      resize.cubic_a = -0.5f;
      add_one(cases, "resize_cubic_inside" + by, to, resize);
      resize.exclude_outside = false;
      resize.cubic_a = -0.75f;
    }
  }
}

}  // namespace hios::test
