#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "hios/base/json/json_io.h"
#include "support/expect_error.h"

namespace hios {
namespace {

using test::expect_error;

constexpr std::int64_t kMin64 = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax64 = std::numeric_limits<std::int64_t>::max();

/// A document and the view of it.
struct Document {
  explicit Document(std::string_view text) : json(parse_json(text, "f.json")) {}
  JsonView view() const { return JsonView(json, "f.json"); }
  Json json;
};

void expect_no_integer(const char* text, std::int64_t min, std::int64_t max) {
  SCOPED_TRACE(text);
  const Document document(text);
  expect_error([&] { document.view().integer(min, max); },
               {"f.json: $: must be a whole number from " + std::to_string(min)});
}

TEST(JsonView, ReadsWholeNumbersWithinTheirRange) {
  EXPECT_EQ(Document("7").view().integer(1, 7), 7);
  EXPECT_EQ(Document("-7").view().integer(-7, 7), -7);
  EXPECT_EQ(Document("9223372036854775807").view().integer(0, kMax64), kMax64);
  EXPECT_EQ(Document("-9223372036854775808").view().integer(kMin64, 0), kMin64);
  expect_no_integer("8", 1, 7);
  expect_no_integer("0", 1, 7);
  expect_no_integer("-1", 0, 7);
  expect_no_integer("7", -9, -1);
  expect_no_integer("3.9", 1, 7);
  expect_no_integer("3e0", 1, 7);
  expect_no_integer("3.0", 1, 7);
  expect_no_integer("4294967297", 1, 65536);
  expect_no_integer("18446744073709551615", kMin64, kMax64);
  expect_no_integer("18446744073709551616", kMin64, kMax64);
  expect_no_integer("true", 0, 1);
  expect_no_integer("\"3\"", 0, 9);
  expect_no_integer("null", 0, 9);
}

TEST(JsonView, ReadsNumbersWithinTheirRange) {
  EXPECT_EQ(Document("0.25").view().number(0, 1), 0.25);
  EXPECT_EQ(Document("1").view().number(0, 1), 1);
  for (const char* text : {"-0.001", "1.5", "\"0.5\"", "null", "[]", "1e300"}) {
    const Document document(text);
    expect_error([&] { document.view().number(0, 1); }, {"must be a number from 0 to 1, not "});
  }
  // A document of ours may hold what no text can.
  const Json infinite = std::numeric_limits<double>::infinity();
  expect_error([&] { JsonView(infinite, "f").number(0, 1e300); }, {"must be a number"});
}

TEST(JsonView, ReadsStringsOfOneLine) {
  EXPECT_EQ(Document(R"("ü x")").view().string(), "ü x");
  expect_error([] { Document("7").view().string(); }, {"must be a string, not 7"});
  expect_error([] { Document(R"("a\nb")").view().string(); }, {R"("a\nb")", "control character"});
  const Document huge("\"" + std::string(100'000, 'x') + "\"");
  expect_error([&] { huge.view().string(); }, {"100000 bytes"});
}

TEST(JsonView, NamesTheWayToAValue) {
  const Document document(R"({"a": [{"Conv 64 k3x3": 1}, "x"], "b": true})");
  const JsonView list = document.view().members()[0].second;
  EXPECT_EQ(list.where(), "f.json: $.a");
  const JsonView inner = list.array()[0].members()[0].second;
  EXPECT_EQ(inner.where(), R"(f.json: $.a[0]["Conv 64 k3x3"])");
  expect_error([&] { inner.boolean(); }, {inner.where() + ": must be true or false, not 1"});
  expect_error([&] { list.members(); }, {"f.json: $.a: must be an object, not an array"});
  expect_error([&] { list.array()[1].array(); },
               {"$.a[1]: must be an array, not the string \"x\""});
  EXPECT_TRUE(document.view().members()[1].second.boolean());
}

TEST(JsonView, RefusesDataKeysOfManyLines) {
  const Document document(R"({"a\u0000b": 1})");
  expect_error([&] { document.view().members(); }, {R"(key "a\u0000b" holds a control)"});
}

TEST(ObjectReader, RefusesMissingAndUnknownKeys) {
  const Document document(R"({"a": 1, "b": 2, "extra": {"anything": [1]}})");
  ObjectReader reader(document.view());
  EXPECT_EQ(reader.required("a").integer(0, 9), 1);
  EXPECT_FALSE(reader.optional("c").has_value());
  expect_error([&] { reader.required("c"); }, {"f.json: $: the key \"c\" is missing"});
  expect_error([&] { reader.finish(); }, {"f.json: $: unknown key \"b\"", "extra"});
  EXPECT_TRUE(reader.optional("b").has_value());
  reader.finish();
  expect_error([] { ObjectReader reader_of_array(Document("[]").view()); },
               {"must be an object, not an array"});
}

TEST(OpenFormat, ChecksNameAndVersion) {
  const auto open = [](const char* text) {
    const Document document(text);
    open_format(document.view(), "hios-graph").finish();
  };
  open(R"({"format": "hios-graph", "version": 1})");
  expect_error([&] { open("[]"); }, {"f.json: $: must be a hios-graph object"});
  expect_error([&] { open("{}"); }, {"$: the key \"format\" is missing; a hios-graph is needed"});
  expect_error([&] { open(R"({"format": 1})"); }, {"$.format: must be a string"});
  expect_error([&] { open(R"({"format": "hios-profile", "version": 1})"); },
               {"$.format: is \"hios-profile\" where \"hios-graph\" is needed"});
  expect_error([&] { open(R"({"format": "hios-graph"})"); }, {"the key \"version\" is missing"});
  for (const std::string other : {"0", "2", "3"}) {
    const std::string text = R"({"format": "hios-graph", "version": )" + other + "}";
    expect_error([&] { open(text.c_str()); },
                 {"$.version: version " + other +
                  " is unknown; this program reads version 1: make "
                  "the file again, or correct the number in a file of your own"});
  }
  expect_error([&] { open(R"({"format": "hios-graph", "version": "1"})"); }, {"$.version"});
}

}  // namespace
}  // namespace hios
