// Networks of several inputs, of integers and truth values too: where their values lie in the
// model's one input, what is drawn for them, and what layers compute of them, against plain loops.

#include <algorithm>
#include <map>

#include "engine/job/verification.h"
#include "engine/onnx/tables.h"
#include "hios/onnx/write/export.h"
#include "support/expect_error.h"

namespace hios::test {
namespace {

constexpr std::uint64_t kDrawnSeed = 3;

/// A model, the values that a seed draws for each of its inputs, and its outputs, all row-major.
class Drawn {
 public:
  explicit Drawn(const std::string& file, const onnx::ImportOptions& options = {})
      : model(onnx::import_model(file, options)) {
    SeededSource source(kDrawnSeed);
    std::vector<float> all(static_cast<std::size_t>(model.tensor(model.input()).shape.elements()));
    source.input(model, all);
    const std::vector<InputPlace> places = places_of(model.named_inputs());
    for (std::size_t i = 0; i < places.size(); ++i) {
      const NamedInput& input = model.named_inputs()[i];
      inputs[input.name] = {input.dims, in_row_major_order(taken(all, places[i]), input.dims)};
    }
    const CoarseGraph coarse = coarsen(model);
    const auto backend = find_backend("reference").make({});
    const job::OneRankRun run(coarse, model, *backend, std::vector<int>(coarse.graph.size(), 1),
                              source, "");
    for (const NamedOutput& output : model.named_outputs()) {
      outputs.push_back(
          {output.dims,
           in_row_major_order(run.output(*coarse.producer(output.tensor)), output.dims)});
    }
  }

  Model model;
  std::map<std::string, Table> inputs;
  std::vector<Table> outputs;

 private:
  static std::vector<float> taken(const std::vector<float>& all, const InputPlace& place) {
    std::vector<float> values;
    for (std::int64_t row = 0; row < place.rows; ++row) {
      const auto from = all.begin() + row * place.stride + place.offset;
      values.insert(values.end(), from, from + place.count);
    }
    return values;
  }
};

void expect_equal(const Table& got, const Table& wanted) {
  EXPECT_EQ(got.dims, wanted.dims);
  EXPECT_EQ(got.values, wanted.values);
}

/// Pictures, a mask of truth values and a factor for each: x·factor where the mask is true.
std::string masked_pictures(OnnxBuilder& b, std::int64_t batch) {
  b.input("x", {batch, 3, 4, 5});
  b.input("mask", {batch, 1, 4, 5}, proto::TensorProto::BOOL);
  b.input("factor", {batch, 3});
  b.integers("columns", {0, 0, 1, 1});
  b.integers("axes", {2, 3});
  b.node("Unsqueeze", {"factor", "axes"}, "wide");
  b.node("Mul", {"x", "wide"}, "scaled");
  b.floats("nothing", {}, {0});
  b.node("Where", {"mask", "scaled", "nothing"}, "y");
  b.output("y");
  return b.write();
}

TEST(SeveralInputs, LieInOneBatchByBatch) {
  OnnxBuilder b;
  const Drawn net(masked_pictures(b, 2));
  EXPECT_EQ(net.model.tensor(net.model.input()).shape, (Shape{2, 60 + 20 + 3, 1, 1}));
  EXPECT_EQ(net.model.batch(), 2);
  const Table &x = net.inputs.at("x"), &mask = net.inputs.at("mask"),
              &factor = net.inputs.at("factor");
  for (const float value : mask.values) EXPECT_TRUE(value == 0 || value == 1) << value;
  EXPECT_GT(std::ranges::count(mask.values, 0.0f), 0);
  EXPECT_GT(std::ranges::count(mask.values, 1.0f), 0);
  expect_equal(net.outputs.front(), table_of({2, 3, 4, 5}, [&](const List& at) {
                 const bool kept = mask.at({at[0], 0, at[2], at[3]}) != 0;
                 return kept ? x.at(at) * factor.at({at[0], at[1]}) : 0.0f;
               }));
}

TEST(SeveralInputs, TakeTheBatchOfTheFlag) {
  OnnxBuilder b;
  const Drawn net(masked_pictures(b, 1), {.batch = 3});
  EXPECT_EQ(net.model.batch(), 3);
  EXPECT_EQ(net.outputs.front().dims, (List{3, 3, 4, 5}));
}

TEST(SeveralInputs, LieInOneRowIfFirstExtentsDiffer) {
  OnnxBuilder b;
  b.input("a", {2, 3});
  b.input("b", {3});
  b.input("c", {2, 2, 3});
  b.input("d", {});
  b.node("Add", {"a", "b"}, "ab");
  b.node("Mul", {"ab", "c"}, "abc");
  b.node("Sub", {"abc", "d"}, "y");
  b.output("y");
  const Drawn net(b.write());
  EXPECT_EQ(net.model.tensor(net.model.input()).shape, (Shape{1, 6 + 3 + 12 + 1, 1, 1}));
  expect_equal(net.outputs.front(), table_of({2, 2, 3}, [&](const List& at) {
                 return (net.inputs.at("a").at({at[1], at[2]}) + net.inputs.at("b").at({at[2]})) *
                            net.inputs.at("c").at(at) -
                        net.inputs.at("d").at({});
               }));
}

/// Opens an extent under a name.
void open(proto::TypeProto::Tensor& type, int axis, const char* name) {
  type.mutable_shape()->mutable_dim(axis)->set_dim_param(name);
}

std::vector<List> extents(const std::string& file, const onnx::ImportOptions& options) {
  std::vector<List> all;
  const Model model = onnx::import_model(file, options);
  for (const NamedInput& input : model.named_inputs()) all.push_back(input.dims);
  return all;
}

TEST(SeveralInputs, ShareTheExtentsOfOneName) {
  OnnxBuilder b;
  open(b.input("time", {1}), 0, "batch");
  auto& picture = b.input("x", {1, 3, 4, 4});
  open(picture, 0, "batch");
  auto& table = b.input("table", {9, 3});
  open(table, 0, "length");
  b.input("mask", {1, 1, 5, 5});
  b.node("Relu", {"x"}, "y");
  b.output("y");
  const std::string file = b.write();
  using Extents = std::vector<List>;
  EXPECT_EQ(extents(file, {.dims = {{"length", 7}}}),
            (Extents{{1}, {1, 3, 4, 4}, {7, 3}, {1, 1, 5, 5}}));
  EXPECT_EQ(extents(file, {.batch = 2, .height = 6, .width = {}, .dims = {{"length", 7}}}),
            (Extents{{2}, {2, 3, 6, 4}, {7, 3}, {1, 1, 5, 5}}))
      << "the mask is no image of that size, and its first extent no batch of the pictures";
  expect_error([&] { onnx::import_model(file); },
               {"the input 'table' leaves extents open: length"});
  expect_error(
      [&] {
        onnx::import_model(
            file, {.batch = 3, .height = {}, .width = {}, .dims = {{"batch", 2}, {"length", 7}}});
      },
      {"the input 'x' gets two extents for \"batch\", 3 and 2: give one of them"});
}

/// The columns of a table of categories look up tables of their own.
TEST(SeveralInputs, LookUpTablesInPart) {
  OnnxBuilder b;
  b.input("categories", {4, 2}, proto::TensorProto::INT64);
  b.input("x", {4, 3});
  b.floats("few", {3, 3}, std::vector<float>(9, 1));
  b.floats("many", {100, 3}, std::vector<float>(300, 2));
  b.integers("first", {0});
  b.integers("second", {1});
  b.integers("rows", {4, 3});
  for (const auto& [column, table] : {std::pair("first", "few"), {"second", "many"}}) {
    const std::string of = column;
    OnnxBuilder::attribute(b.node("Gather", {"categories", column}, of + "_ids"), "axis",
                           std::int64_t{1});
    b.node("Gather", {table, of + "_ids"}, of + "_found");
    b.node("Reshape", {of + "_found", "rows"}, of + "_rows");
  }
  b.node("Sum", {"first_rows", "second_rows", "x"}, "y");
  b.output("y");
  const Drawn net(b.write());
  const NamedInput& categories = net.model.named_inputs()[0];
  EXPECT_EQ(categories.below, 3) << "what is drawn must be in both";
  EXPECT_FALSE(categories.is_index) << "what is given may be in either";
}

TEST(SeveralInputs, LookUpTablesAfterAReshape) {
  OnnxBuilder b;
  b.input("ids", {2, 6}, proto::TensorProto::INT64);
  b.input("x", {2, 6, 3});
  b.integers("row", {12});
  b.integers("together", {2, 6, 3});
  b.floats("table", {9, 3}, std::vector<float>(27, 1));
  b.node("Reshape", {"ids", "row"}, "flat");
  b.node("Gather", {"table", "flat"}, "found");
  b.node("Reshape", {"found", "together"}, "rows");
  b.node("Add", {"rows", "x"}, "y");
  b.output("y");
  const Drawn net(b.write());
  EXPECT_EQ(net.model.named_inputs()[0].below, 9);
  EXPECT_TRUE(net.model.named_inputs()[0].is_index);
}

TEST(SeveralInputs, LookUpTables) {
  OnnxBuilder b;
  b.input("ids", {2, 5}, proto::TensorProto::INT64);
  b.input("kinds", {2, 5}, proto::TensorProto::INT32);
  b.input("attention", {2, 5}, proto::TensorProto::INT64);
  const auto wave = [](double row, double column) {
    return [=](const List& at) {
      return row * static_cast<double>(at[0]) + column * static_cast<double>(at[1]);
    };
  };
  const Table words = table_of({7, 4}, wave(10, 1)), kinds = table_of({3, 4}, wave(0.25, -1));
  b.floats("words", words.dims, words.values);
  b.floats("of_kinds", kinds.dims, kinds.values);
  b.node("Gather", {"words", "ids"}, "word");
  b.node("Gather", {"of_kinds", "kinds"}, "kind");
  b.node("Add", {"word", "kind"}, "sum");
  OnnxBuilder::attribute(b.node("Cast", {"attention"}, "weight"), "to",
                         std::int64_t{proto::TensorProto::FLOAT});
  b.integers("axis", {2});
  b.node("Unsqueeze", {"weight", "axis"}, "wide");
  b.node("Mul", {"sum", "wide"}, "y");
  b.output("y");
  const Drawn net(b.write());
  const auto inputs = net.model.named_inputs();
  EXPECT_EQ(inputs[0].below, 7);
  EXPECT_EQ(inputs[1].below, 3);
  EXPECT_EQ(inputs[2].below, 2) << "0 and 1 where nothing says how many";
  EXPECT_TRUE(inputs[0].is_index && inputs[1].is_index && !inputs[2].is_index);
  expect_equal(net.outputs.front(), table_of({2, 5, 4}, [&](const List& at) {
                 const List token{at[0], at[1]};
                 const auto row = [&](const char* of) {
                   return static_cast<std::int64_t>(net.inputs.at(of).at(token));
                 };
                 return (words.at({row("ids"), at[2]}) + kinds.at({row("kinds"), at[2]})) *
                        net.inputs.at("attention").at(token);
               }));
}

TEST(SeveralInputs, AreWrittenWithTheirNamesAndTypes) {
  OnnxBuilder b;
  b.input("x", {2, 3, 4, 5});
  b.input("mask", {2, 3, 4, 5}, proto::TensorProto::BOOL);
  OnnxBuilder::attribute(b.node("Cast", {"mask"}, "ones"), "to",
                         std::int64_t{proto::TensorProto::FLOAT});
  b.node("Mul", {"x", "ones"}, "y");
  b.output("y");
  const Drawn net(b.write());
  TemporaryFolder folder;
  const std::string file = (folder.path() / "written.onnx").string();
  onnx::export_model(
      net.model, [](const Layer&) { return ModelWeights::Values{}; }, file, Existing::kRefuse);
  const Drawn again(file);
  ASSERT_EQ(again.model.named_inputs().size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(again.model.named_inputs()[i].name, net.model.named_inputs()[i].name);
    EXPECT_EQ(again.model.named_inputs()[i].dims, net.model.named_inputs()[i].dims);
    EXPECT_EQ(again.model.named_inputs()[i].below, net.model.named_inputs()[i].below);
  }
  EXPECT_EQ(again.inputs.at("mask").values, net.inputs.at("mask").values);
  expect_equal(again.outputs.front(), net.outputs.front());
}

TEST(SeveralInputs, NumbersOfOneInputArePartOfItsSeedAlone) {
  OnnxBuilder b;
  const std::string file = masked_pictures(b, 2);
  const Drawn one(file), same(file);
  for (const auto& [name, table] : one.inputs) {
    EXPECT_EQ(table.values, same.inputs.at(name).values) << name;
  }
  SeededSource source(kDrawnSeed);
  std::vector<float> first(2 * 83), second(2 * 83);
  source.numbered_input(one.model, 0, first);
  source.numbered_input(one.model, 1, second);
  EXPECT_NE(first, second);
}

}  // namespace
}  // namespace hios::test
