// Where the values of several named inputs lie in a model's input.

#include "hios/model/named_inputs.h"

#include <gtest/gtest.h>

namespace hios {
namespace {

TEST(NamedInputs, ShareEachRowIfFirstExtentsAreEqual) {
  const std::vector<NamedInput> inputs = {{"a", {2, 3}}, {"b", {2, 1, 2, 2}}, {"c", {2}}};
  EXPECT_EQ(joined_shape(inputs), (Shape{2, 3 + 4 + 1, 1, 1}));
  const std::vector<InputPlace> places = places_of(inputs);
  std::vector<float> all(16, -1);
  put(std::vector<float>{0, 1, 2, 3, 4, 5}, places[0], all);
  put(std::vector<float>{10, 11, 12, 13, 14, 15, 16, 17}, places[1], all);
  put(std::vector<float>{20, 21}, places[2], all);
  EXPECT_EQ(all, (std::vector<float>{0, 1, 2, 10, 11, 12, 13, 20,  //
                                     3, 4, 5, 14, 15, 16, 17, 21}));
}

TEST(NamedInputs, FollowEachOtherIfFirstExtentsDiffer) {
  const std::vector<NamedInput> inputs = {{"a", {2, 2}}, {"b", {3}}};
  EXPECT_EQ(joined_shape(inputs), (Shape{1, 7, 1, 1}));
  const std::vector<InputPlace> places = places_of(inputs);
  std::vector<float> all(7, -1);
  put(std::vector<float>{4, 5, 6}, places[1], all);
  put(std::vector<float>{0, 1, 2, 3}, places[0], all);
  EXPECT_EQ(all, (std::vector<float>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(NamedInputs, OneDimensionIsNoBatch) {
  const std::vector<NamedInput> inputs = {{"ids", {5}}, {"mask", {5}}};
  EXPECT_EQ(joined_shape(inputs), (Shape{1, 10, 1, 1}));
}

TEST(NamedInputs, AreTheInputItselfIfThereIsOne) {
  const std::vector<NamedInput> inputs = {{"a", {2, 3}}};
  std::vector<float> all(6);
  put(std::vector<float>{0, 1, 2, 3, 4, 5}, places_of(inputs).front(), all);
  EXPECT_EQ(all, (std::vector<float>{0, 1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace hios
