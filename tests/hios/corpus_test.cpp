// Bad input: every file of tests/corpus goes through the reader that it is meant for and must be
// refused with the file's name, the location and the reason in expected.json or edits.json
// (support/corpus.h). Then the good files of the corpus, damaged at random, must be refused as well
// or read, and never do harm.
//
// A row of expected.json is {file, kind, message}; `message` is part of the message. In `files`
// the kind is the file's format, whose reader refuses it: a schedule of graph_ok.json, or of
// model_ok.json for the kind "run". Where a `rule` is given, the schedule is read and validate()
// finds a violation of that rule. In `for_model_ok` the files are good, but not for their use:
//   costs       a profile that lacks what model_ok.json needs on two devices
//   ranks       a schedule of model_ok.json, run on that many `ranks`
// In `problems` graph and `platform` are good, but the graph has no costs on the platform.
// The digests in schedules are those of graph_ok.json and model_ok.json (run_*.json).

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "hios/base/error.h"
#include "hios/base/numbers/random.h"
#include "hios/evaluate/cost_model.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "hios/flight/explain.h"
#include "hios/graph/cuts/cuts.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/graph/graph_json.h"
#include "hios/model/model.h"
#include "hios/model/model_json.h"
#include "hios/platform/platform_json.h"
#include "hios/profile/profile.h"
#include "hios/profile/profile_json.h"
#include "hios/schedule/schedule.h"
#include "hios/schedule/schedule_json.h"
#include "support/corpus.h"
#include "support/expect_error.h"
#include "support/programs/temporary_folder.h"
#include "support/schema.h"

namespace hios {
namespace {

namespace fs = std::filesystem;

const fs::path kCorpus = test::corpus();

/// The good files that the bad ones are read with.
struct Surroundings {
  Json graph_json = read_json(kCorpus / "graph_ok.json");
  Json model_json = read_json(kCorpus / "model_ok.json");
  Graph graph = graph_from_json(JsonView(graph_json, "graph_ok.json"));
  Model model = model_from_json(JsonView(model_json, "model_ok.json"));
  CoarseGraph coarse = coarsen(model);
};

const Surroundings& surroundings() {
  static const Surroundings all;
  return all;
}

using Reader = std::function<void(const JsonView&)>;

void read_schedule(const JsonView& root) { schedule_from_json(root, surroundings().graph); }

void read_schedule_of_model(const JsonView& root) {
  schedule_from_json(root, surroundings().coarse.graph);
}

/// Makes the costs of the model on two devices; a message lists the entries that the profile lacks.
void make_costs(const JsonView& root) {
  const Profile profile = profile_from_json(root);
  const Platform platform = Platform::homogeneous(2, "cpu", 1, 1);
  CostModel::from_profile(surroundings().coarse.graph, platform, profile);
}

void explain(const JsonView& root) {
  flight::Flight record = flight::parse_flight(root);
  record.file = root.where();
  flight::explain({record});
}

/// By format.
const std::map<std::string, Reader>& readers() {
  static const std::map<std::string, Reader> all = {
      {"graph", [](const JsonView& root) { graph_from_json(root); }},
      {"platform", [](const JsonView& root) { platform_from_json(root); }},
      {"model", [](const JsonView& root) { model_from_json(root); }},
      {"fusion", [](const JsonView& root) { fusion_from_json(root); }},
      {"cuts", [](const JsonView& root) { cuts_from_json(root); }},
      {"profile", [](const JsonView& root) { profile_from_json(root); }},
      {"schedule", read_schedule},
      {"flight", explain},
  };
  return all;
}

void read_file(const fs::path& file, const Reader& reader) {
  const Json json = read_json(file);
  reader(JsonView(json, file.string()));
}

std::vector<Finding> check(const fs::path& file, const Graph& graph) {
  const Json json = read_json(file);
  const ScheduleFile schedule = schedule_from_json(JsonView(json, file.string()), graph);
  return validate(graph, Platform(schedule.devices), schedule.schedule);
}

/// The rules by their names in expected.json.
Rule rule_of(const std::string& name) {
  static const std::map<std::string, Rule> rules = {
      {"missing", Rule::kMissing},
      {"twice", Rule::kTwice},
      {"empty_stage", Rule::kEmptyStage},
      {"too_many_groups", Rule::kTooManyGroups},
      {"dependent_groups", Rule::kDependentGroups},
      {"order_in_group", Rule::kOrderInGroup},
      {"cycle", Rule::kCycle},
      {"memory", Rule::kMemory},
      {"transfer_missing", Rule::kTransferMissing},
  };
  return rules.at(name);
}

void expect_finding_in_file(const fs::path& file, const test::BadFile& bad, const Graph& graph) {
  const std::vector<Finding> findings = check(file, graph);
  std::string all;
  const bool found = std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    const std::string line = finding_line(bad.name, finding);
    all += "\n  " + line;
    return finding.rule == rule_of(bad.rule) && line.find(bad.message) != std::string::npos;
  });
  EXPECT_TRUE(found) << "no finding '" << bad.message << "' of the rule " << bad.rule
                     << " in:" << all;
}

TEST(Corpus, EveryBadFileIsRefused) {
  const std::vector<test::BadFile> files = test::bad_files();
  EXPECT_GE(files.size(), 500U);
  const test::TemporaryFolder folder;
  std::set<std::string> names;
  for (const test::BadFile& bad : files) {
    SCOPED_TRACE(bad.name);
    EXPECT_TRUE(names.insert(bad.name).second) << "there twice";
    const fs::path file = folder.put(bad.name, bad.content);
    const bool run = bad.kind == "run";
    const Graph& graph = run ? surroundings().coarse.graph : surroundings().graph;
    if (!bad.rule.empty()) {
      expect_finding_in_file(file, bad, graph);
    } else {
      const auto read = [&] {
        read_file(file, run ? read_schedule_of_model : readers().at(bad.kind));
      };
      test::expect_error(read, {bad.name, bad.message});
    }
  }
}

TEST(Corpus, GoodFilesAreRefusedForWhatTheyAreNot) {
  const Json expected = read_json(kCorpus / "expected.json");
  EXPECT_GT(expected["for_model_ok"].size(), 0U);
  for (const Json& row : expected["for_model_ok"]) {
    const std::string name = row["file"], message = row["message"];
    SCOPED_TRACE(name);
    const Json json = read_json(kCorpus / name);
    if (row["kind"] == "costs") {
      test::expect_error([&] { make_costs(JsonView(json, name)); }, {message});
    } else {
      EXPECT_TRUE(check(kCorpus / name, surroundings().coarse.graph).empty());
      EXPECT_NE(schedule_head(JsonView(json, name)).devices.size(), row["ranks"]);
    }
  }
}

TEST(Corpus, GraphsThatCannotRunOnTheirPlatformAreRefused) {
  const Json expected = read_json(kCorpus / "expected.json");
  EXPECT_GT(expected["problems"].size(), 0U);
  for (const Json& row : expected["problems"]) {
    const std::string name = row["file"], platform_name = row["platform"], message = row["message"];
    SCOPED_TRACE(name);
    const Json graph_json = read_json(kCorpus / name);
    const Json platform_json = read_json(kCorpus / platform_name);
    const Graph graph = graph_from_json(JsonView(graph_json, name));
    const Platform platform = platform_from_json(JsonView(platform_json, platform_name));
    test::expect_error([&] { CostModel::from_graph(graph, platform); }, {message});
  }
}

TEST(Corpus, EveryFileIsListedOrGood) {
  std::set<std::string> listed = {"edits.json", "expected.json", "flags.json", "found"};
  const Json expected = read_json(kCorpus / "expected.json");
  for (const char* list : {"files", "for_model_ok"}) {
    for (const Json& row : expected[list]) listed.insert(row["file"]);
  }
  for (const Json& row : expected["problems"]) {
    listed.insert(row["file"]);
    const std::string platform = row["platform"];
    if (!platform.ends_with("_ok.json")) listed.insert(platform);
  }
  for (const auto& entry : fs::directory_iterator(kCorpus)) {
    const std::string name = entry.path().filename().string();
    const bool good = entry.path().stem().string().ends_with("_ok");
    EXPECT_NE(good, listed.contains(name)) << name;
  }
}

TEST(Corpus, GoodFilesAreRead) {
  for (const std::string format :
       {"graph", "platform", "model", "fusion", "cuts", "profile", "schedule", "flight"}) {
    SCOPED_TRACE(format);
    const fs::path file = kCorpus / (format + "_ok.json");
    EXPECT_NO_THROW(read_file(file, readers().at(format)));
    test::expect_meets_schema(read_json(file));
  }
  EXPECT_NO_THROW(read_file(kCorpus / "profile_ok.json", make_costs));
  EXPECT_TRUE(check(kCorpus / "schedule_ok.json", surroundings().graph).empty());
  EXPECT_TRUE(check(kCorpus / "run_ok.json", surroundings().coarse.graph).empty());
}

TEST(Corpus, AHugeFileIsRefusedUnread) {
  const test::TemporaryFolder folder;
  const fs::path file = folder.put("huge.json", "");
  fs::resize_file(file, 100ull << 20);
  for (const auto& [kind, reader] : readers()) {
    test::expect_error([&] { read_file(file, reader); }, {"huge.json: 104857600 bytes"});
  }
}

/// Returns the text with one random damage: a byte changed, a range cut or doubled, a value
/// replaced.
std::string damaged(std::string text, Random& random) {
  const std::size_t at = random.below(text.size());
  const std::size_t length = std::min<std::size_t>(random.below(40) + 1, text.size() - at);
  static const std::vector<std::string> kValues = {
      "-1",   "1e308", "1e400",   "0",          "null",
      "\"\"", "[]",    "{}",      "4294967297", "18446744073709551615",
      "3.9",  "\"a\"", "true",    "[[[[",       "}",
      ",",    ":",     "\\u0000", "\xff",       "\"conv_1\""};
  switch (random.below(9)) {
    case 0:
      text[at] = static_cast<char>(random.below(256));
      return text;
    case 1:
      return text.erase(at, length);
    case 2:
      return text.insert(random.below(text.size()), text.substr(at, length));
    default:
      break;
  }
  // Whole values only, so that the damaged text often is still JSON.
  const std::size_t start = text.find_first_of("0123456789\"", at);
  if (start == std::string::npos) return text;
  const std::size_t end = text[start] == '"' ? text.find('"', start + 1)
                                             : text.find_first_not_of("0123456789.", start) - 1;
  if (end == std::string::npos || end < start) return text;
  return text.replace(start, end - start + 1, kValues[random.below(kValues.size())]);
}

/// Reads damaged text; a schedule that can be read is checked and simulated.
void read_damaged(const std::string& format, const std::string& text) {
  const Json json = parse_json(text, "damaged.json");
  const JsonView root(json, "damaged.json");
  if (format != "schedule") {
    readers().at(format)(root);
    return;
  }
  const Graph& graph = surroundings().graph;
  const ScheduleFile file = schedule_from_json(root, graph);
  const Platform platform(file.devices);
  if (!validate(graph, platform, file.schedule).empty()) return;
  const CostModel costs = CostModel::from_graph(graph, platform);
  EXPECT_GT(simulate(graph, file.schedule, costs).latency_ms, 0);
}

TEST(Corpus, DamagedFilesDoNoHarm) {
  for (const std::string format :
       {"graph", "platform", "model", "fusion", "cuts", "profile", "schedule", "flight"}) {
    const std::string good = test::content_of(kCorpus / (format + "_ok.json"));
    std::size_t read = 0, refused = 0;
    for (std::uint64_t seed = 0; seed < 1500; ++seed) {
      SCOPED_TRACE(format + ", seed " + std::to_string(seed));
      Random random(seed, format);
      std::string text = good;
      for (std::uint64_t i = random.below(2) + 1; i > 0; --i) text = damaged(text, random);
      try {
        read_damaged(format, text);
        ++read;
      } catch (const InputError& error) {
        ++refused;
        const std::string message = error.what();
        EXPECT_EQ(message.find('\n'), std::string::npos) << message;
        EXPECT_LT(message.size(), 1200U) << message;
      }
    }
    // Both happen, or the damage is of the wrong size to test anything.
    EXPECT_GT(read, 10U) << format;
    EXPECT_GT(refused, 500U) << format;
  }
}

}  // namespace
}  // namespace hios
