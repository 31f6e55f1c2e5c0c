// The size that an ONNX file's input has: fixed, left open under a name or by -1, or given.

#include <gtest/gtest.h>

#include "hios/base/error.h"
#include "hios/base/need.h"
#include "hios/onnx/read/import.h"
#include "support/expect_error.h"
#include "support/layers/onnx_builder.h"

namespace hios::onnx {
namespace {

using test::OnnxBuilder;

TEST(Import, OpenExtentsAreGivenByName) {
  OnnxBuilder b;
  auto& type = b.input("x", {1, 3, 8, 8});
  type.mutable_shape()->mutable_dim(0)->set_dim_param("n");
  type.mutable_shape()->mutable_dim(1)->set_dim_param("c");
  b.node("Relu", {"x"}, "y");
  b.output("y");
  const std::string file = b.write();
  try {
    import_model(file);
    FAIL() << "an open extent got a value";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("leaves extents open: c"), std::string::npos);
    EXPECT_EQ(error.need(), Need(need::OpenDimensions{{"c"}}));
  }
  const Model model =
      import_model(file, {.batch = {}, .height = 4, .width = {}, .dims = {{"c", 5}}});
  EXPECT_EQ(model.tensor(model.input()).shape, (Shape{1, 5, 4, 8}));
}

/// A network on images; extents that are texts are open under that name.
std::string image_file(OnnxBuilder& b, std::int64_t batch, const char* height, const char* width) {
  auto& shape = *b.input("x", {batch, 3, 224, 224}).mutable_shape();
  if (height) shape.mutable_dim(2)->set_dim_param(height);
  if (width) shape.mutable_dim(3)->set_dim_param(width);
  b.node("Relu", {"x"}, "y");
  b.output("y");
  return b.write();
}

Shape input_shape(const std::string& file, const ImportOptions& options) {
  const Model model = import_model(file, options);
  return model.tensor(model.input()).shape;
}

TEST(Import, SizesThatTheInputHasNotAreRefused) {
  const auto refused = [](const std::string& file, const ImportOptions& options,
                          const std::string& words) {
    test::expect_error<InputError>([&] { import_model(file, options); }, {words});
  };
  OnnxBuilder image;
  const std::string file = image_file(image, 2, "H", nullptr);
  refused(file, {.batch = {}, .height = {}, .width = {}, .dims = {{"foo", 9}}},
          "the input 'x' has no open extent \"foo\"");
  refused(file, {.batch = {}, .height = {}, .width = {}, .dims = {{"3", 9}}},
          "has no open extent \"3\"");
  OnnxBuilder rows;
  rows.input("x", {7, 5});
  rows.node("Relu", {"x"}, "y");
  rows.output("y");
  refused(rows.write(), {.batch = {}, .height = 7, .width = {}},
          "has 2 dimensions, and no height or width");
}

TEST(Import, AnExtentWithoutItsFlagIsTheFiles) {
  OnnxBuilder b;
  const std::string file = image_file(b, 2, nullptr, nullptr);
  EXPECT_EQ(input_shape(file, {}), (Shape{2, 3, 224, 224}));
  EXPECT_EQ(input_shape(file, {.batch = {}, .height = 64, .width = {}}), (Shape{2, 3, 64, 224}));
  EXPECT_EQ(input_shape(file, {.batch = {}, .height = {}, .width = 64}), (Shape{2, 3, 224, 64}));
  EXPECT_EQ(input_shape(file, {.batch = 4, .height = 64, .width = 32}), (Shape{4, 3, 64, 32}));
}

TEST(Import, AnOpenHeightOrWidthIsTheOther) {
  OnnxBuilder both, one;
  const std::string file = image_file(both, 1, "h", "w");
  EXPECT_EQ(input_shape(file, {.batch = {}, .height = 64, .width = {}}), (Shape{1, 3, 64, 64}));
  EXPECT_EQ(input_shape(file, {.batch = {}, .height = {}, .width = 48}), (Shape{1, 3, 48, 48}));
  EXPECT_EQ(input_shape(file, {.batch = {}, .height = 64, .width = {}, .dims = {{"w", 32}}}),
            (Shape{1, 3, 64, 32}));
  test::expect_error([&] { import_model(file); }, {"leaves extents open: h, w"});
  // A fixed extent of the file is not a flag.
  const std::string narrow = image_file(one, 1, nullptr, "w");
  test::expect_error([&] { import_model(narrow); }, {"leaves extents open: w"});
}

TEST(Import, MinusOneMarksAnOpenExtent) {
  OnnxBuilder b, sequence;
  const std::string file = image_file(b, -1, nullptr, nullptr);
  EXPECT_EQ(input_shape(file, {}), (Shape{1, 3, 224, 224}));
  EXPECT_EQ(input_shape(file, {.batch = 4, .height = {}, .width = {}}), (Shape{4, 3, 224, 224}));
  sequence.input("x", {-1, -1, 6});
  sequence.node("Relu", {"x"}, "y");
  sequence.output("y");
  const std::string rows = sequence.write();
  test::expect_error([&] { import_model(rows); }, {"leaves extents open: 1"});
  const Model model =
      import_model(rows, {.batch = {}, .height = {}, .width = {}, .dims = {{"1", 5}}});
  EXPECT_EQ(model.named_inputs()[0].dims, (std::vector<std::int64_t>{1, 5, 6}));
}

}  // namespace
}  // namespace hios::onnx
