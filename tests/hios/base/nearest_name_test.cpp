#include "hios/base/nearest_name.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace hios {
namespace {

constexpr std::array<std::string_view, 6> kKnownNames = {"profile", "output",   "hios-lp",
                                                         "hios-mr", "inter-lp", "inception_v3"};

TEST(NearestName, IsTheOneThatWasMeant) {
  EXPECT_EQ(nearest_name("proifle", kKnownNames), "profile") << "two neighbours swapped";
  EXPECT_EQ(nearest_name("profil", kKnownNames), "profile");
  EXPECT_EQ(nearest_name("profiles", kKnownNames), "profile");
  EXPECT_EQ(nearest_name("outputs", kKnownNames), "output");
  EXPECT_EQ(nearest_name("inter_lp", kKnownNames), "inter-lp") << "'_' for '-'";
  EXPECT_EQ(nearest_name("HIOS-MR", kKnownNames), "hios-mr") << "upper case";
  EXPECT_EQ(nearest_name("inceptionv3", kKnownNames), "inception_v3");
}

TEST(NearestName, IsTheFirstOfSeveral) {
  EXPECT_EQ(nearest_name("hios-xx", kKnownNames), "hios-lp");
  EXPECT_EQ(nearest_name("hios-m", kKnownNames), "hios-mr") << "a nearer one comes later";
}

TEST(NearestName, IsTheShortestThatBeginsSo) {
  EXPECT_EQ(nearest_name("inc", kKnownNames), "inception_v3");
  EXPECT_EQ(nearest_name("in", kKnownNames), "") << "two characters say little";
}

TEST(NearestName, IsNoneOfOtherNames) {
  for (const char* word : {"", "z", "nonsense", "resnet50", "1e3", "--", "\x1b[31mred"})
    EXPECT_EQ(nearest_name(word, kKnownNames), "") << word;
  EXPECT_EQ(nearest_name(std::string(100'000, 'x'), kKnownNames), "");
  EXPECT_EQ(nearest_name("profile", {}), "");
}

TEST(NearestName, IsAQuestion) {
  EXPECT_EQ(did_you_mean("proifle", kKnownNames), "; did you mean profile?");
  EXPECT_EQ(did_you_mean("tf23", {"fp32", "tf32"}), "; did you mean tf32?");
  EXPECT_EQ(did_you_mean("nonsense", {"fp32", "tf32"}), "");
}

}  // namespace
}  // namespace hios
