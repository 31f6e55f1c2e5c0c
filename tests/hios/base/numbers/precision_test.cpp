#include "hios/base/numbers/precision.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "hios/base/error.h"
#include "support/message.h"

namespace hios {
namespace {

TEST(Precision, IsCalledAlikeInFlagsAndFiles) {
  for (const Precision precision : kPrecisions) {
    EXPECT_EQ(parse_precision(to_string(precision)), precision);
    const Json json = precision;
    EXPECT_EQ(json, to_string(precision));
    EXPECT_EQ(json.get<Precision>(), precision);
  }
}

TEST(Precision, RefusesOtherNamesWithAListOfItsOwn) {
  const Json root = {{"math", "fp8"}};
  test::expect_message(test::message_of([] { parse_precision("fp8"); }),
                       "no arithmetic is called 'fp8'; there are fp32, tf32, fp16");
  test::expect_message(test::message_of([&] {
                         ObjectReader reader(JsonView(root, "p.json"));
                         read_precision(reader.required("math"));
                       }),
                       "p.json: $.math: no arithmetic is called 'fp8'");
}

TEST(Precision, KnowsTheBytesOfAnElement) {
  EXPECT_EQ(element_bytes(Precision::kFp32), 4u);
  EXPECT_EQ(element_bytes(Precision::kTf32), 4u);
  EXPECT_EQ(element_bytes(Precision::kFp16), 2u);
}

}  // namespace
}  // namespace hios
