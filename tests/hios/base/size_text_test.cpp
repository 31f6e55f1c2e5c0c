#include "hios/base/size_text.h"

#include <gtest/gtest.h>

namespace hios {
namespace {

TEST(SizeText, HasTheLargestUnitThatFits) {
  EXPECT_EQ(size_text(0), "0 bytes");
  EXPECT_EQ(size_text((Bytes{1} << 20) - 1), "1048575 bytes");
  EXPECT_EQ(size_text(Bytes{3} << 19), "1.5 MiB");
  EXPECT_EQ(size_text(4'000'000'000), "3.7 GiB");
  EXPECT_EQ(size_text(Bytes{1} << 50), "1048576.0 GiB");
}

}  // namespace
}  // namespace hios
