#include "hios/model/channel_slice.h"
#include "hios/model/infer_shape.h"

#include <gtest/gtest.h>

namespace hios {
namespace {

constexpr Shape kShape{2, 8, 3, 5};

TEST(ChannelSlice, IsDistinguishableFromOtherMoves) {
  for (std::int64_t first = 0; first < kShape.c; ++first) {
    for (std::int64_t count = 1; first + count <= kShape.c; ++count) {
      const Move slice = channel_slice(kShape, first, count);
      EXPECT_EQ(infer_shape(slice, std::span(&kShape, 1)), (Shape{2, count, 3, 5}));
      EXPECT_EQ(first_sliced_channel(slice, kShape), first);
    }
  }
}

TEST(ChannelSlice, IsKnownHoweverItsDimensionsAreCut) {
  // Rows and columns of pixels apart, a dimension of one, and channels in two dimensions.
  const Move same{{2, 4, 3, 5}, {{2, 120}, {1, 7}, {3, 40}, {5, 8}, {2, 2}, {2, 1}}, 3};
  EXPECT_EQ(first_sliced_channel(same, kShape), 3);
}

TEST(ChannelSlice, IsNoOtherMove) {
  const Move slice = channel_slice(kShape, 2, 4);
  Move every_second = slice, transposed = slice, other_pixels = slice, beyond = slice;
  every_second.dimensions.back().stride = 2;
  std::swap(transposed.dimensions[1], transposed.dimensions[2]);
  other_pixels.output = {2, 4, 5, 3};
  beyond.offset = 5;  // its last channel is the next pixel's first
  for (const Move& move : {every_second, transposed, other_pixels, beyond}) {
    EXPECT_EQ(first_sliced_channel(move, kShape), std::nullopt);
  }
}

}  // namespace
}  // namespace hios
