#include "hios/base/json/json_io.h"

#include <sys/stat.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include <gtest/gtest.h>

#include "hios/base/numbers/random.h"
#include "support/expect_error.h"
#include "support/programs/temporary_folder.h"

namespace hios {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using test::expect_need;
using test::TemporaryFolder;

Json parse(std::string_view text) { return parse_json(text, "f.json"); }

void expect_refused_text(std::string_view text, std::initializer_list<std::string_view> parts) {
  SCOPED_TRACE(text.substr(0, 60));
  expect_error([&] { parse(text); }, parts);
}

TEST(ParseJson, KeepsValuesAndTheOrderOfKeys) {
  const Json json = parse(R"({"b": [1, -2, 0.5, true, null, "é\n"], "a": {"x": {}}})");
  EXPECT_EQ(json.dump(), R"({"b":[1,-2,0.5,true,null,"é\n"],"a":{"x":{}}})");
  EXPECT_EQ(parse(" 7 ").get<int>(), 7);
}

TEST(ParseJson, NamesTheLineThatIsNotJson) {
  expect_refused_text("", {"f.json: empty"});
  expect_refused_text(" \n\t ", {"f.json: empty"});
  expect_refused_text("{\"a\": [1,\n 2,, 3]}",
                      {"f.json: line 2, column 4", "$.a[2]", "not valid JSON"});
  expect_refused_text("{\"a\": NaN}", {"f.json: line 1, column 7", "$.a", "not valid JSON"});
  expect_refused_text("{\"a\": 01}", {"$", "not valid JSON"});
  expect_refused_text("{} {}", {"line 1, column 4"});
  expect_refused_text("{'a': 1}", {"line 1, column 2"});
  expect_refused_text("// no\n{}", {"line 1, column 1"});
}

TEST(ParseJson, TellsATruncatedFileFromAWrongOne) {
  const std::string whole = R"({"a": {"b": [1, "two"], "c": true}})";
  parse(whole);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    expect_refused_text(whole.substr(0, size),
                        {"f.json: line 1, column ", "ends in the middle of $"});
  }
  expect_refused_text(R"({"a": {"b": [1, "tw)", {"in the middle of $.a.b[1];"});
  expect_refused_text(R"({"a": {"b": 1, )", {"in the middle of $.a;"});
  expect_refused_text(R"({"a": {"": {)", {"in the middle of $.a[\"\"];"});
}

TEST(ParseJson, RefusesBinary) {
  expect_refused_text(std::string_view("{}\0{}", 5), {"zero byte"});
  expect_refused_text(
      "\x7f"
      "ELF\x02\x01\x01",
      {"line 1, column 1", "not valid JSON"});
  expect_refused_text("\"\xff\xfe\"", {"not valid JSON"});
}

TEST(ParseJson, RefusesADuplicateKeyAnywhere) {
  expect_refused_text(R"({"a": 1, "a": 1})", {"f.json: $.a: the key is there twice"});
  expect_refused_text(R"([{"x": [{"a": 1, "b": 2, "a": 3}]}])",
                      {"$[0].x[0].a: the key is there twice"});
  expect_refused_text(R"({"a": 1, "\u0061": 1})", {"$.a: the key is there twice"});
  parse(R"([{"a": 1}, {"a": {"a": 1}}])");
}

TEST(ParseJson, RefusesDepthBeforeItHurts) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  parse(nested(64));
  expect_refused_text(nested(65), {"f.json: $[0][0]", "more than 64 levels"});
  expect_refused_text(std::string(1'000'000, '['), {"more than 64 levels"});
  std::string objects;
  for (int i = 0; i < 100; ++i) objects += "{\"a\":";
  expect_refused_text(objects, {"$.a.a", "more than 64 levels"});
}

TEST(ParseJson, RefusesNumbersThatNoDoubleHolds) {
  expect_refused_text(R"({"a": {"b": 1e400}})", {"f.json: $.a.b: 1e400 is out of range"});
  expect_refused_text("[-1e400]", {"$[0]"});
  expect_refused_text("[" + std::string(5000, '9') + "]", {"$[0]", "9999…", "out of range"});
  EXPECT_EQ(parse("1e-400").get<double>(), 0);
}

TEST(ParseJson, CutsAndEscapesWhatItQuotes) {
  expect_refused_text("{\"" + std::string(100'000, 'k') + "\": ?}", {"$[\"kkk", "…"});
  expect_refused_text("{\"\\u001b[31m\\u202e\": ?}", {R"($["\u001b[31m\u202e"])"});
  expect_refused_text("[\"" + std::string(100'000, 'k') + "\n\"]", {"$[0]"});
}

TEST(ParseJson, TakesManyMembersInLinearTime) {
  // By insertion, which searches, this would be 10^10 comparisons.
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i) text += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":0";
  EXPECT_EQ(parse(text + "}").size(), 200'000U);
}

TEST(ReadJson, RefusesUnreadableFiles) {
  const TemporaryFolder folder;
  expect_error([&] { read_json(folder / "none.json"); }, {"none.json", "No such file"});
  expect_error([&] { read_json(folder.path()); }, {"is a directory"});
  expect_error([&] { read_json("/dev/zero"); }, {"/dev/zero", "not a regular file"});
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  expect_error([&] { read_json(folder / "pipe"); }, {"pipe", "not a regular file"});
  expect_error([&] { read_json(folder.put("empty.json", "")); }, {"empty.json: empty"});
  expect_error([&] { read_json(folder / std::string(5000, 'x')); }, {"cannot be read", "…"});
}

TEST(ReadJson, FollowsLinks) {
  const TemporaryFolder folder;
  fs::create_symlink(folder.put("real.json", "[1]"), folder / "link.json");
  EXPECT_EQ(read_json(folder / "link.json").dump(), "[1]");
}

TEST(ReadJson, RefusesALargeFileByItsSize) {
  const TemporaryFolder folder;
  const fs::path file = folder.put("large.json", "{");
  fs::resize_file(file, 100ull << 20);  // sparse: takes no space, and reading it would show zeros
  expect_error([&] { read_json(file); }, {"large.json: 104857600 bytes", "33554432"});
  expect_need([&] { read_json(file); }, need::LargerInput{});
  ReadLimits limits;
  limits.max_bytes = 2;
  expect_error([&] { read_json(folder.put("three.json", "[1]"), limits); }, {"3 bytes"});
  EXPECT_EQ(read_json(folder.put("two.json", "[]"), limits).size(), 0U);
}

TEST(ToText, PutsShortThingsOnALine) {
  const Json json = parse(R"({"name": "x", "list": [[1, 2], ["a"]], "record": {"ms": 1.5, "n": 3},
                              "deep": {"inner": {"a": 1}}, "none": {}, "empty": []})");
  EXPECT_EQ(to_text(json), R"({
  "name": "x",
  "list": [[1, 2], ["a"]],
  "record": {"ms": 1.5, "n": 3},
  "deep": {
    "inner": {"a": 1}
  },
  "none": {},
  "empty": []
}
)");
}

TEST(ToText, BreaksLongArrays) {
  Json json = Json::object();
  json["values"] = std::vector<int>(40, 1234);
  const std::string text = to_text(json);
  EXPECT_NE(text.find("[\n    1234,\n    1234"), std::string::npos) << text;
}

TEST(ToText, ReadsBackTheSame) {
  Random random(11);
  Json json = Json::array();
  for (int i = 0; i < 2000; ++i) {
    const double value = random.uniform(-1, 1) * std::pow(10.0, random.uniform(-300, 300));
    json.push_back({{"value", value}, {"integer", random.next()}, {"text", "é\"\\\n\x01"}});
  }
  json.push_back(std::numeric_limits<double>::denorm_min());
  json.push_back(std::numeric_limits<std::int64_t>::min());
  json.push_back(0.1 + 0.2);
  EXPECT_EQ(parse(to_text(json)), json);
}

TEST(ToText, RefusesValuesThatJsonLacks) {
  const double infinity = std::numeric_limits<double>::infinity();
  expect_error<RunError>([&] { to_text({{"a", {1.0, infinity}}}); }, {"$.a[1]", "not finite"});
  expect_error<RunError>([&] { to_text(std::nan("")); }, {"$", "not finite"});
}

TEST(ToText, ReplacesBytesThatAreNotUtf8) {
  const std::string text =
      to_text(Json("a\xff"
                   "b"));
  EXPECT_EQ(parse(text).get<std::string>(),
            "a\xef\xbf\xbd"
            "b");
}

}  // namespace
}  // namespace hios
