// The schemas themselves, and files of our programs against them. Profiles, schedules and reports
// meet theirs in their own tests.

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "hios/graph/cuts/cuts.h"
#include "hios/graph/fusion/fusion_rules.h"
#include "hios/graph/graph_json.h"
#include "hios/graph/random/random_dag.h"
#include "hios/model/model.h"
#include "hios/model/model_json.h"
#include "hios/model/networks/networks.h"
#include "hios/platform/platform.h"
#include "hios/platform/platform_json.h"
#include "support/schema.h"

namespace hios {
namespace {

using test::Schema;

TEST(Schema, KnowsItsKeywords) {
  const Schema schema(parse_json(R"({
    "type": "object", "required": ["a"], "additionalProperties": false,
    "properties": {
      "a": {"$ref": "#/$defs/small"}, "b": {"type": ["string", "null"], "pattern": "^x+$"},
      "c": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"enum": [1, "one"]}},
      "d": {"oneOf": [{"type": "integer"}, {"minimum": 5}]},
      "e": {"type": "object", "minProperties": 1, "additionalProperties": {"minLength": 2}},
      "f": {"exclusiveMinimum": 0}
    },
    "$defs": {"small": {"type": "integer", "minimum": 0, "maximum": 9}}})",
                                 "schema"));
  const auto count = [&](const char* text) {
    return schema.violations(parse_json(text, "value")).size();
  };
  EXPECT_EQ(count(R"({"a": 9, "b": "xx", "c": ["one", 1], "d": 4, "e": {"k": "ab"}, "f": 1})"), 0U);
  EXPECT_EQ(count(R"({"a": 0, "b": null, "d": 5.5})"), 0U);
  for (const char* wrong :
       {"{}", "[]", R"({"a": 10})", R"({"a": -1})", R"({"a": 1.5})", R"({"a": 1, "z": 1})",
        R"({"a": 1, "b": "y"})", R"({"a": 1, "b": 2})", R"({"a": 1, "c": []})",
        R"({"a": 1, "c": [1, 1, 1]})", R"({"a": 1, "c": [2]})", R"({"a": 1, "d": 6})",
        R"({"a": 1, "d": 4.5})", R"({"a": 1, "e": {}})", R"({"a": 1, "e": {"k": "a"}})",
        R"({"a": 1, "f": 0})"}) {
    EXPECT_EQ(count(wrong), 1U) << wrong;
  }
}

TEST(Schema, RefusesAKeywordThatItWouldNotCheck) {
  for (const char* text : {R"({"maxLength": 3})", R"({"properties": {"a": {"not": true}}})",
                           R"({"$ref": "#/$defs/none"})"}) {
    EXPECT_THROW(Schema(parse_json(text, "schema")), std::logic_error) << text;
  }
}

TEST(Schemas, ThereIsOneForEveryFormat) {
  std::set<std::string> formats;
  const std::filesystem::path folder = HIOS_SOURCE_DIR "/schedules/schemas";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string format = entry.path().stem().string();
    SCOPED_TRACE(format);
    EXPECT_NO_THROW(Schema::of_format(format));
    EXPECT_EQ(read_json(entry.path())["properties"]["format"]["const"], format);
    formats.insert(format);
  }
  EXPECT_EQ(formats, (std::set<std::string>{
                         "hios-check", "hios-comparison", "hios-cuts", "hios-flight", "hios-fusion",
                         "hios-graph", "hios-keeping", "hios-model", "hios-platform",
                         "hios-profile", "hios-report", "hios-schedule", "hios-summary"}));
}

TEST(Schemas, GraphsMeetTheirs) {
  RandomDag parameters;
  parameters.operators = 60;
  parameters.edges = 120;
  test::expect_meets_schema(to_json(random_dag(parameters)));
}

TEST(Schemas, ModelsMeetTheirs) {
  for (const models::Entry& entry : models::all()) {
    SCOPED_TRACE(entry.name);
    test::expect_meets_schema(to_json(entry.build(1, entry.default_size, entry.default_size)));
  }
}

TEST(Schemas, FusionRulesMeetTheirs) {
  const FusionRules fusion{FusionRules::Kind::kListed, {{"Conv", "Relu"}, {"Sum", "Concat"}}};
  test::expect_meets_schema(to_json(fusion));
  EXPECT_EQ(fusion_from_json(JsonView(to_json(fusion), "fusion.json")), fusion);
}

TEST(Schemas, CutsMeetTheirs) {
  const Cuts cuts{{"conv_1", {74}, 2}, {"pool_1", {10, 20}}};
  test::expect_meets_schema(to_json(cuts));
  EXPECT_EQ(cuts_from_json(JsonView(to_json(cuts), "cuts.json")), cuts);
}

TEST(Schemas, PlatformsMeetTheirs) {
  test::expect_meets_schema(to_json(Platform::homogeneous(3, "cpu", 2, 2)));
  const Json full = read_json(HIOS_SOURCE_DIR "/tests/corpus/platform_ok.json");
  test::expect_meets_schema(full);
  test::expect_meets_schema(to_json(platform_from_json(JsonView(full, "platform_ok.json"))));
}

TEST(Schemas, TheExamplesOfPlatformsAreRead) {
  std::size_t count = 0;
  const std::filesystem::path folder = HIOS_SOURCE_DIR "/schedules/platforms";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path());
    const Json json = read_json(entry.path());
    test::expect_meets_schema(json);
    const Platform platform = platform_from_json(JsonView(json, entry.path().string()));
    for (std::size_t d = 1; d < platform.size(); ++d) {
      EXPECT_TRUE(platform.link(DeviceId(0), DeviceId(d)));
    }
    ++count;
  }
  EXPECT_GT(count, 0U);
}

/// Rows with the columns of the demo.
TEST(Schemas, SummariesMeetTheirs) {
  const Json summary = parse_json(R"({
    "format": "hios-summary", "version": 1, "model": "inception_v3",
    "rows": [{"name": "2 ranks x 1 core hios-lp", "ranks": 2, "threads": 1, "algorithm": "hios-lp",
              "latency_ms": {"min": 1, "best_quarter": 1, "median": 1, "p95": 1, "p99": 1,
                             "mean": 1, "samples": 4, "disturbed": 0},
              "predicted_ms": 1.1, "prediction_error": -0.1, "verified": true,
              "bitwise_equal_to_one_rank": true, "speedup_over_one_core": 1.4,
              "ratio_to_best_two_core_row": 1, "overhead_ms": 0.01}],
    "reference_moved": 0.01, "two_cores_one_rank_ms": 54.5, "seconds": 200})",
                                  "summary.json");
  test::expect_meets_schema(summary);
}

}  // namespace
}  // namespace hios
