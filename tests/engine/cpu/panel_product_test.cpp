// Where our product stands in for oneDNN's convolutions.
#include "engine/cpu/convolutions/panel_product.h"

#include <gtest/gtest.h>

#include "engine/cpu/kernels/kernels.h"

namespace hios::cpu {
namespace {

/// Returns true where this processor's kernels have a product and it suits.
bool suits_in_block(const ProductSize& block, std::int64_t all_rows) {
  const bool suits = PanelProduct::suits(block, all_rows);
  EXPECT_TRUE(!suits || kernels().lanes >= 16);
  return suits || kernels().lanes < 16;
}

TEST(PanelProduct, SuitsFewRowsAndMoreWhereSumsAreDeep) {
  EXPECT_TRUE(suits_in_block({128, 100, 96}, 128));
  EXPECT_FALSE(PanelProduct::suits({129, 100, 96}, 129));
  EXPECT_TRUE(suits_in_block({256, 192, 96}, 256));
  EXPECT_FALSE(PanelProduct::suits({257, 192, 96}, 257));
  EXPECT_TRUE(suits_in_block({512, 192, 336}, 512));  // three chunks divide the columns
  EXPECT_FALSE(PanelProduct::suits({512, 192, 320}, 512));
  EXPECT_FALSE(PanelProduct::suits({15, 192, 336}, 15));
}

TEST(PanelProduct, IsChosenByTheWholeWhereItHasOtherBits) {
  EXPECT_TRUE(suits_in_block({230, 1280, 240}, 529));
  EXPECT_FALSE(PanelProduct::suits({230, 1281, 240}, 529));
  EXPECT_TRUE(suits_in_block({230, 1281, 240}, 512));
  EXPECT_TRUE(suits_in_block({8, 1281, 240}, 512));
  EXPECT_FALSE(PanelProduct::suits({8, 1280, 240}, 512));
}

}  // namespace
}  // namespace hios::cpu
