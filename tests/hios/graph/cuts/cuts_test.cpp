// Cuts: the ranges of shards, and messages for those that cannot be.
#include "hios/graph/cuts/cuts.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hios/base/json/json_io.h"
#include "hios/graph/cuts/layer_range.h"
#include "hios/graph/cuts/shard.h"
#include "hios/graph/cuts/shard_ranges.h"
#include "hios/graph/network.h"
#include "support/expect_error.h"

namespace hios {
namespace {

std::string ranges_text(const Cut& cut, const Shape& output) {
  std::string text;
  for (const AxisRange& range : shard_ranges(cut, output)) {
    text += (text.empty() ? "" : " ") + to_string(range);
  }
  return text;
}

/// Returns a cut in proportion to parts.
Cut in_parts(Axis axis, std::vector<std::int64_t> parts) {
  return {"conv", {}, 0, axis, std::move(parts)};
}

TEST(Cuts, ShardsHaveRowsOrBlocksOfChannels) {
  const Shape output{1, 100, 10, 7};
  EXPECT_EQ(ranges_text({"conv", {3, 8}}, output), "[0, 3) [3, 8) [8, 10)");
  EXPECT_EQ(ranges_text({"conv", {3, 8}, 2}, output), "[0, 5) [1, 10) [6, 10)");
  EXPECT_EQ(ranges_text({"conv", {30}, 0, Axis::kC}, output),
            "channels [0, 30) channels [30, 100)");
  EXPECT_EQ(ranges_text(in_parts(Axis::kH, {1, 2}), output), "[0, 3) [3, 10)");
  EXPECT_EQ(ranges_text(in_parts(Axis::kC, {1, 2}), output), "channels [0, 32) channels [32, 100)");
  // No shard is empty, however uneven the parts are.
  EXPECT_EQ(ranges_text(in_parts(Axis::kH, {1, 1, 1000000}), output), "[0, 1) [1, 2) [2, 10)");
  EXPECT_EQ(ranges_text(in_parts(Axis::kH, {1000000, 1, 1}), output), "[0, 8) [8, 9) [9, 10)");
}

TEST(Cuts, PartsCoverTheOutputInEveryProportion) {
  for (std::int64_t extent = 1; extent <= 40; ++extent) {
    for (const Axis axis : {Axis::kH, Axis::kC}) {
      const Shape output{1, extent * 5, extent, 1};
      const std::int64_t units = axis == Axis::kH ? extent : (extent * 5 + 15) / 16;
      for (std::int64_t parts = 2; parts <= units; ++parts) {
        Cut cut = in_parts(axis, {});
        for (std::int64_t i = 0; i < parts; ++i) cut.parts.push_back(1 + i * i * 7 % 11);
        std::int64_t next = 0;
        for (const AxisRange& range : shard_ranges(cut, output)) {
          EXPECT_EQ(range.begin, next);
          EXPECT_GT(range.count(), 0);
          next = range.end;
        }
        EXPECT_EQ(next, whole_range(output, axis).end);
      }
    }
  }
}

TEST(Cuts, AreReadAsTheyAreWritten) {
  const Cuts cuts{{"a", {3, 5}, 2},
                  {"b", {16}, 0, Axis::kC},
                  in_parts(Axis::kC, {1, 2}),
                  {"d", {}, 1, Axis::kH, {2, 1}}};
  const Json json = to_json(cuts);
  EXPECT_EQ(cuts_from_json(JsonView(json, "cuts.json")), cuts);
}

Model one_of_each() {
  ModelBuilder net("net", {1, 8, 9, 6});
  const TensorId conv = net.conv("conv", net.input(), {32, {3, 3}, {1, 1}, {1, 1}});
  const TensorId grouped = net.conv("grouped", conv, {32, {3, 3}, {1, 1}, {1, 1}, 4});
  const TensorId joined = net.concat("joined", {grouped, conv});
  const TensorId mean = net.global_average_pool("mean", joined);
  const TensorId soft = net.add("soft", Softmax{{.c = true}, false}, {joined});
  net.add("scaled", Binary{Binary::Function::kMul, {}, false}, {soft, mean});
  net.keep_layer_names();
  return std::move(net).build();
}

TEST(Cuts, BadOnesSayWhatIsWrong) {
  const auto expect = [](const Cut& cut, std::initializer_list<std::string_view> parts) {
    FusionRules rules;
    rules.cuts = {cut};
    test::expect_error<InputError>([&] { Network(one_of_each(), 4, rules); }, parts);
  };
  expect({"conf", {3}}, {"no operator is named \"conf\"", "did you mean \"conv\"?"});
  expect({"zebra", {3}}, {"no operator is named \"zebra\"; there are ", ": \"", ", ..."});
  expect({"conv", {9}}, {"\"conv\" has 9 rows", "from 1 to 8"});
  expect({"conv", {3, 3}}, {"\"conv\" has 9 rows", "ascending rows from 1 to 8"});
  expect({"conv", {32}, 0, Axis::kC}, {"has 32 channels", "ascending channels from 1 to 31"});
  expect({"conv", {16}, 1, Axis::kC}, {"which cannot overlap"});
  expect({"mean", {1}}, {"\"mean\" has 1 rows", "cannot be cut by rows"});
  expect({"conv", {}, 0, Axis::kC, {1, 1, 1}}, {"has 32 channels, 2 blocks of 16: fewer than"});
  expect({"grouped", {12}, 0, Axis::kC}, {"\"grouped\" cannot be cut", "8 channels each"});
  expect({"joined", {16}, 0, Axis::kC}, {"\"joined\" cannot be cut", "it joins channels"});
  expect({"soft", {16}, 0, Axis::kC}, {"Softmax is not computed channel by channel"});
}

// Schedules and traces of cut networks show names of layers.
TEST(Cuts, NamesOfLayersAreAnsweredWithTheirOperators) {
  ModelBuilder net("net", {1, 16, 12, 9});
  net.relu("act", net.conv("stem/conv", net.input(), {16, {3, 3}, {1, 1}, {1, 1}}));
  const Model model = std::move(net).build();
  for (const char* name : {"stem/conv", "act", "stem/conv [0, 6)", "stem/conv channels [0, 16)"}) {
    FusionRules rules;
    rules.cuts = {{name, {3}}};
    test::expect_error<InputError>([&] { Network(model, 4, rules); },
                                   {"no operator is named \"" + std::string(name) + "\"",
                                    "the operator with that layer is \"conv_1\""});
  }
}

TEST(Cuts, BadOnesOfAFileAreNamedByTheirPlaceThere) {
  const Network whole(one_of_each());
  const auto expect = [&](const std::string& cuts, std::string_view message) {
    const Json json = parse_json(
        R"({"format": "hios-schedule", "version": 1, "graph": {"cuts": [)" + cuts + "]}}",
        "s.json");
    const JsonView list = JsonView(json, "s.json").find("graph")->second.find("cuts")->second;
    const Cuts read = cut_list_from_json(list);
    test::expect_error<InputError>([&] { shard(whole.model, whole.coarse, read); }, {message});
  };
  const std::string good = R"({"operator": "conv", "axis": "height", "at": [3]})";
  expect(good + R"(, {"operator": "grouping", "axis": "height", "at": [3]})",
         "s.json: $.graph.cuts[1]: no operator is named \"grouping\"");
  expect(R"({"operator": "conv", "axis": "height", "at": [9]})",
         "s.json: $.graph.cuts[0]: operator \"conv\" has 9 rows");
  expect(good + R"(, {"operator": "soft", "axis": "channels", "at": [16]})",
         "s.json: $.graph.cuts[1]: operator \"soft\" cannot be cut: layer");
  // Two cuts of one operator are there only where no file was read.
  const Cuts twice{{"conv", {3}}, {"conv", {4}}};
  test::expect_error<InputError>([&] { shard(whole.model, whole.coarse, twice); },
                                 {"cuts: operator \"conv\" is there twice"});
  const Cut elsewhere{"conv", {3}, 0, Axis::kH, {}, "c.json: $.cuts[0]"};
  EXPECT_EQ(twice.front(), elsewhere) << "cuts are equal wherever they stand";
}

}  // namespace
}  // namespace hios
