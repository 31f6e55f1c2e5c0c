#include "hios/graph/cuts/cuts.h"

#include <nlohmann/json.hpp>
#include <set>

#include "hios/base/error.h"
#include "hios/base/files/streams.h"
#include "hios/base/json/json_io.h"
#include "hios/base/nearest_name.h"
#include "hios/model/tensor.h"

namespace hios {
namespace {

constexpr std::size_t kMostParts = 1024;

std::vector<std::int64_t> read_at(const JsonView& view, const std::string& what) {
  std::vector<std::int64_t> at;
  for (const JsonView& element : view.array()) {
    const std::int64_t begin = element.integer(1, kMaxExtent);
    if (!at.empty() && begin <= at.back()) element.fail(what + " must ascend");
    at.push_back(begin);
  }
  if (at.empty()) view.fail("cuts nothing: list the " + what + " at which shards begin");
  return at;
}

std::vector<std::int64_t> read_parts(const JsonView& view) {
  std::vector<std::int64_t> parts;
  for (const JsonView& element : view.array()) parts.push_back(element.integer(1, kMaxExtent));
  if (parts.size() < 2) view.fail("cuts nothing: list at least two parts, as in [1, 2]");
  if (parts.size() > kMostParts)
    view.fail("has more than " + std::to_string(kMostParts) + " parts");
  return parts;
}

Axis read_axis(const JsonView& view) {
  const std::string axis = view.string();
  if (axis == "height") return Axis::kH;
  if (axis != "channels") {
    view.fail("must be \"height\" or \"channels\", not " + quote(axis) +
              did_you_mean(axis, {"height", "channels"}));
  }
  return Axis::kC;
}

Cut read_cut(const JsonView& view, std::set<std::string>& names) {
  ObjectReader reader(view);
  const JsonView name = reader.required("operator");
  Cut cut{.op = name.string(), .at = {}, .where = view.where()};
  if (!names.insert(cut.op).second) name.fail(quote(cut.op) + " is there twice");
  cut.axis = read_axis(reader.required("axis"));
  const auto at = reader.optional("at"), parts = reader.optional("parts");
  if (at.has_value() == parts.has_value()) {
    view.fail(at ? "has \"at\" and \"parts\"; leave out one of them" : "needs \"at\" or \"parts\"");
  }
  if (at) cut.at = read_at(*at, cut.axis == Axis::kC ? "channels" : "rows");
  if (parts) cut.parts = read_parts(*parts);
  if (const auto overlap = reader.optional("overlap")) {
    cut.overlap = overlap->integer(0, kMaxExtent);
    if (cut.axis == Axis::kC && cut.overlap > 0) overlap->fail("channels cannot overlap");
  }
  reader.finish();
  return cut;
}

}  // namespace

Cuts cut_list_from_json(const JsonView& list) {
  Cuts cuts;
  std::set<std::string> names;
  for (const JsonView& element : list.array()) cuts.push_back(read_cut(element, names));
  return cuts;
}

Json cut_list_to_json(const Cuts& cuts) {
  Json list = Json::array();
  for (const Cut& cut : cuts) {
    Json json{{"operator", cut.op}, {"axis", cut.axis == Axis::kC ? "channels" : "height"}};
    json[cut.parts.empty() ? "at" : "parts"] = cut.parts.empty() ? cut.at : cut.parts;
    if (cut.axis == Axis::kH) json["overlap"] = cut.overlap;
    list.push_back(std::move(json));
  }
  return list;
}

Cuts cuts_from_json(const JsonView& document) {
  ObjectReader reader = open_format(document, "hios-cuts");
  Cuts cuts = cut_list_from_json(reader.required("cuts"));
  reader.finish();
  return cuts;
}

Json to_json(const Cuts& cuts) {
  return {{"format", "hios-cuts"}, {"version", 1}, {"cuts", cut_list_to_json(cuts)}};
}

Cuts load_cuts(const std::string& word_or_file, const ReadLimits& limits) {
  if (word_or_file == "none") return {};
  if (word_or_file.find_first_of("./") == std::string::npos && !is_standard_input(word_or_file)) {
    throw InputError("cut " + printable(word_or_file, 200) +
                     ": neither none nor auto, and no file (a file's name has a '.' or a '/')" +
                     did_you_mean(word_or_file, {"none", "auto"}));
  }
  const Json json = read_json(word_or_file, limits);
  const JsonView document(json, word_or_file);
  const auto format = document.find("format");
  if (!format || !format->second.is_string() || format->second.string() != "hios-schedule") {
    return cuts_from_json(document);
  }
  ObjectReader graph(open_format(document, "hios-schedule").required("graph"));
  const auto cuts = graph.optional("cuts");
  return cuts ? cut_list_from_json(*cuts) : Cuts{};
}

}  // namespace hios
