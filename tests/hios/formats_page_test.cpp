// docs/formats.md: its examples meet the schemas, are read by our readers and belong together, and
// every key of a schema is explained.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/graph/graph_json.h"
#include "hios/graph/parameters.h"
#include "hios/model/model.h"
#include "hios/model/model_json.h"
#include "hios/platform/platform.h"
#include "hios/platform/platform_json.h"
#include "hios/profile/profile.h"
#include "hios/profile/profile_json.h"
#include "hios/schedule/schedule.h"
#include "hios/schedule/schedule_json.h"
#include "support/schema.h"

namespace hios {
namespace {

/// The JSON blocks of a page that name a format.
std::vector<Json> examples_in(const std::filesystem::path& page) {
  std::ifstream file(page);
  EXPECT_TRUE(file) << page;
  std::vector<Json> examples;
  std::string line, block;
  std::size_t number = 0, begin = 0;
  while (std::getline(file, line)) {
    ++number;
    if (line == "```json") {
      begin = number;
    } else if (begin > 0 && line == "```") {
      const std::string where = page.filename().string() + ":" + std::to_string(begin);
      Json example = parse_json(block, where);
      if (example.contains("format")) examples.push_back(std::move(example));
      block.clear();
      begin = 0;
    } else if (begin > 0) {
      block += line + "\n";
    }
  }
  return examples;
}

/// The page, and its examples by format.
class FormatsPage : public testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path file = HIOS_SOURCE_DIR "/docs/formats.md";
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    page_ = text.str();
    for (Json& example : examples_in(file)) {
      const std::string format = example.at("format");
      examples_[format].push_back(std::move(example));
    }
  }

  const Json& example(const std::string& format) const { return examples_.at(format).front(); }
  JsonView view(const std::string& format) const { return {example(format), format}; }
  Graph graph_of_the_model() const { return coarsen(model_from_json(view("hios-model"))).graph; }

  std::string page_;
  std::map<std::string, std::vector<Json>> examples_;
};

TEST_F(FormatsPage, ShowsEveryFormatAsItsSchemaHasIt) {
  for (const char* format :
       {"hios-model", "hios-fusion", "hios-cuts", "hios-graph", "hios-platform", "hios-profile",
        "hios-schedule", "hios-comparison", "hios-check", "hios-keeping", "hios-flight",
        "hios-report", "hios-summary"}) {
    EXPECT_TRUE(examples_.contains(format)) << format;
  }
  for (const auto& [format, examples] : examples_) {
    SCOPED_TRACE(format);
    for (const Json& one : examples) test::expect_meets_schema(one);
  }
}

TEST(DocumentExamples, MeetTheirSchemas) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HIOS_SOURCE_DIR "/docs")) {
    if (entry.path().extension() != ".md") continue;
    SCOPED_TRACE(entry.path());
    for (const Json& example : examples_in(entry.path())) {
      test::expect_meets_schema(example);
      ++count;
    }
  }
  EXPECT_GE(count, 9U);
}

/// The keys that a schema, or a part of one, knows by name.
void collect_keys(const Json& schema, std::set<std::string>& keys) {
  if (schema.is_array()) {
    for (const Json& part : schema) collect_keys(part, keys);
  }
  if (!schema.is_object()) return;
  for (const auto& [keyword, part] : schema.items()) {
    if (keyword == "properties") {
      for (const auto& property : part.items()) keys.insert(property.key());
    }
    collect_keys(part, keys);
  }
}

TEST_F(FormatsPage, NamesEveryKeyOfEverySchema) {
  for (const auto& [format, examples] : examples_) {
    std::set<std::string> keys;
    collect_keys(read_json(HIOS_SOURCE_DIR "/schedules/schemas/" + format + ".json"), keys);
    for (const std::string& key : keys) {
      const bool named = page_.find('"' + key + '"') != std::string::npos ||
                         page_.find('`' + key + '`') != std::string::npos;
      EXPECT_TRUE(named) << format << ": " << key;
    }
  }
}

TEST_F(FormatsPage, ItsExamplesAreRead) {
  EXPECT_EQ(graph_from_json(view("hios-graph")).size(), 4U);
  EXPECT_EQ(platform_from_json(view("hios-platform")).size(), 3U);
  const Json& pairs = examples_.at("hios-graph").at(1);
  EXPECT_TRUE(graph_from_json(JsonView(pairs, "docs/formats.md")).edge(EdgeId(0)).transfer_by_pair);
  const Json& parameters = examples_.at("hios-graph").back();
  EXPECT_EQ(ParameterSets(graph_from_json(JsonView(parameters, "docs/formats.md"))).sets().size(),
            2U);
  const Json& shared = examples_.at("hios-platform").at(1);
  const Platform routed = platform_from_json(JsonView(shared, "docs/formats.md"));
  EXPECT_EQ(routed.link(DeviceId(0), DeviceId(3)), (Link{0.06, 10}));
  const Json& buses = examples_.at("hios-platform").at(2);
  const Platform with_routes = platform_from_json(JsonView(buses, "docs/formats.md"));
  EXPECT_EQ(with_routes.link(DeviceId(0), DeviceId(1)), (Link{0.02, 10}));
  EXPECT_EQ(with_routes.topology()->alone_gb_per_s(RouteId(2)), 3.5);
  EXPECT_EQ(graph_of_the_model().size(), 5U);
  const Json& second = examples_.at("hios-model").at(1);
  const Model model = model_from_json(JsonView(second, "docs/formats.md"));
  EXPECT_TRUE(model.keeps_layer_names());
  const Json written = to_json(model);
  EXPECT_EQ(to_json(model_from_json(JsonView(written, "written"))), written);
  EXPECT_EQ(profile_from_json(view("hios-profile")).configurations.size(), 1U);
}

TEST_F(FormatsPage, ItsSchedulesFitItsModel) {
  const Graph graph = graph_of_the_model();
  EXPECT_EQ(examples_.at("hios-schedule").size(), 4U);
  for (const Json& json : examples_.at("hios-schedule")) {
    ScheduleFile file = schedule_from_json(JsonView(json, "docs/formats.md"), graph);
    file.schedule.weights.reset();  // they need routes, which a schedule does not have
    EXPECT_TRUE(validate(graph, Platform(file.devices), file.schedule).empty());
  }
}

TEST_F(FormatsPage, ItsColdStartUsesEveryKeyOfWeights) {
  const Json& json = examples_.at("hios-schedule").back();
  const ScheduleFile file =
      schedule_from_json(JsonView(json, "docs/formats.md"), graph_of_the_model());
  EXPECT_EQ(file.objective, Objective::kColdStart);
  ASSERT_TRUE(file.schedule.weights);
  EXPECT_EQ(file.schedule.weights->lanes.at(0).size(), 2U);
  EXPECT_FALSE(file.schedule.weights->in_place.empty());
  EXPECT_FALSE(file.schedule.weights->evictions.empty());
  EXPECT_FALSE(file.schedule.weights->resident.empty());
}

TEST_F(FormatsPage, ItsProfilePredictsTheLatencyOfItsSchedule) {
  const Graph graph = graph_of_the_model();
  const Profile profile = profile_from_json(view("hios-profile"));
  const ScheduleFile file = schedule_from_json(view("hios-schedule"), graph);
  const Platform platform(file.devices);
  const CostModel costs = CostModel::from_profile(graph, platform, profile);
  EXPECT_NEAR(simulate(graph, file.schedule, costs).latency_ms, file.predicted.latency_ms, 0.02);
  EXPECT_NEAR(file.predicted.gap(), example("hios-schedule").at("predicted").at("gap"), 1e-3);
}

TEST_F(FormatsPage, ItsReportIsOfThatSchedule) {
  const Json& report = example("hios-report");
  EXPECT_EQ(report.at("digests").at("graph"), graph_of_the_model().digest());
  EXPECT_EQ(report.at("predicted_ms"), example("hios-schedule").at("predicted").at("latency_ms"));
  EXPECT_EQ(report.at("ranks").size(), example("hios-schedule").at("devices").size());
}

}  // namespace
}  // namespace hios
