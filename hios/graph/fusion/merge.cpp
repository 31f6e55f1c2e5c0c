#include "hios/graph/fusion/merge.h"

#include <nlohmann/json.hpp>
#include <set>

#include "hios/base/error.h"
#include "hios/base/json/json_io.h"
#include "hios/base/nearest_name.h"

namespace hios {
namespace {

std::vector<std::string> read_set(const JsonView& view, std::set<std::string>& names) {
  std::vector<std::string> convolutions;
  for (const JsonView& element : view.array()) {
    std::string name = element.string();
    if (!names.insert(name).second) element.fail(quote(name) + " is there twice");
    convolutions.push_back(std::move(name));
  }
  if (convolutions.size() < 2) view.fail("merges nothing: a set has two convolutions or more");
  return convolutions;
}

}  // namespace

std::string to_string(const Merge& merge) {
  if (merge.none()) return "none";
  if (merge.all) return "siblings";
  return std::to_string(merge.sets.size()) + (merge.sets.size() == 1 ? " set" : " sets");
}

Merge merge_from_json(const JsonView& view) {
  if (!view.is_array()) {
    const std::string word = view.string();
    if (word == "none") return Merge::kNone;
    if (word == "siblings") return Merge::kSiblings;
    view.fail("must be \"none\" or \"siblings\", not " + quote(word) +
              ", or a list of sets of convolutions");
  }
  Merge merge;
  std::set<std::string> names;
  for (const JsonView& element : view.array()) merge.sets.push_back(read_set(element, names));
  return merge;
}

Json to_json(const Merge& merge) {
  if (merge.sets.empty()) return merge.all ? "siblings" : "none";
  return merge.sets;
}

Merge load_merge(const std::string& word_or_file, const ReadLimits& limits) {
  for (const Merge& merge : {Merge::kNone, Merge::kSiblings}) {
    if (word_or_file == to_string(merge)) return merge;
  }
  if (word_or_file.find_first_of("./") == std::string::npos) {
    throw InputError("merge " + printable(word_or_file, 200) +
                     ": neither none nor siblings, and no file (a file's name has a '.' or a '/')" +
                     did_you_mean(word_or_file, {"none", "siblings"}));
  }
  const Json json = read_json(word_or_file, limits);
  ObjectReader graph(open_format(JsonView(json, word_or_file), "hios-schedule").required("graph"));
  const auto merge = graph.optional("merge");
  return merge ? merge_from_json(*merge) : Merge::kNone;
}

}  // namespace hios
