#include "hios/base/nearest_name.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace hios {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"profile", "output",   "hios-lp",
                                                    "hios-mr", "inter-lp", "inception_v3"};

TEST(NearestName, IsTheOneThatWasMeant) {
  EXPECT_EQ(nearest_name("proifle", kNames), "profile") << "two neighbours swapped";
  EXPECT_EQ(nearest_name("profil", kNames), "profile");
  EXPECT_EQ(nearest_name("profiles", kNames), "profile");
  EXPECT_EQ(nearest_name("outputs", kNames), "output");
  EXPECT_EQ(nearest_name("inter_lp", kNames), "inter-lp") << "'_' for '-'";
  EXPECT_EQ(nearest_name("HIOS-MR", kNames), "hios-mr") << "upper case";
  EXPECT_EQ(nearest_name("inceptionv3", kNames), "inception_v3");
}

TEST(NearestName, IsTheFirstOfSeveral) {
  EXPECT_EQ(nearest_name("hios-xx", kNames), "hios-lp");
  EXPECT_EQ(nearest_name("hios-m", kNames), "hios-mr") << "a nearer one comes later";
}

TEST(NearestName, IsTheShortestThatBeginsSo) {
  EXPECT_EQ(nearest_name("inc", kNames), "inception_v3");
  EXPECT_EQ(nearest_name("in", kNames), "") << "two characters say little";
}

TEST(NearestName, IsNoneOfOtherNames) {
  for (const char* word : {"", "z", "nonsense", "resnet50", "1e3", "--", "\x1b[31mred"})
    EXPECT_EQ(nearest_name(word, kNames), "") << word;
  EXPECT_EQ(nearest_name(std::string(100'000, 'x'), kNames), "");
  EXPECT_EQ(nearest_name("profile", {}), "");
}

TEST(NearestName, IsAQuestion) {
  EXPECT_EQ(did_you_mean("proifle", kNames), "; did you mean profile?");
  EXPECT_EQ(did_you_mean("tf23", {"fp32", "tf32"}), "; did you mean tf32?");
  EXPECT_EQ(did_you_mean("nonsense", {"fp32", "tf32"}), "");
}

}  // namespace
}  // namespace hios
