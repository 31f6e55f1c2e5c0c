#include "hios/graph/cuts/cuts.h"

#include <nlohmann/json.hpp>
#include <set>

#include "hios/base/error.h"
#include "hios/base/json/json_io.h"
#include "hios/base/nearest_name.h"
#include "hios/model/tensor.h"

namespace hios {
namespace {

std::vector<std::int64_t> read_rows(const JsonView& view) {
  std::vector<std::int64_t> rows;
  for (const JsonView& element : view.array()) {
    const std::int64_t row = element.integer(1, kMaxExtent);
    if (!rows.empty() && row <= rows.back()) element.fail("rows must ascend");
    rows.push_back(row);
  }
  if (rows.empty()) view.fail("cuts nothing: list the rows at which shards begin");
  return rows;
}

Cut read_cut(const JsonView& view, std::set<std::string>& names) {
  ObjectReader reader(view);
  const JsonView name = reader.required("operator");
  Cut cut{.op = name.string(), .at = {}};
  if (!names.insert(cut.op).second) name.fail(quote(cut.op) + " is there twice");
  const JsonView axis = reader.required("axis");
  if (axis.string() != "height") {
    axis.fail("must be \"height\", not " + quote(axis.string()) + ": no other axis is cut yet");
  }
  cut.at = read_rows(reader.required("at"));
  if (const auto overlap = reader.optional("overlap"))
    cut.overlap = overlap->integer(0, kMaxExtent);
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
    list.push_back(
        {{"operator", cut.op}, {"axis", "height"}, {"at", cut.at}, {"overlap", cut.overlap}});
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
  if (word_or_file.find_first_of("./") == std::string::npos) {
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
