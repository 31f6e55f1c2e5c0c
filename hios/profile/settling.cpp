#include "hios/profile/settling.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace hios {
namespace {

// Keys of a protocol. Its content is free, so a value of another type counts as missing.
constexpr const char* kSettlingKey = "settling";
constexpr const char* kIncompleteKey = "incomplete";

std::size_t count_in(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number_unsigned() ? found->get<std::size_t>() : 0;
}

Settling settling_from_json(const Json& json) {
  Settling settling;
  if (!json.is_object()) return settling;
  settling.sweeps = count_in(json, "sweeps");
  settling.disturbed = count_in(json, "disturbed");
  const auto difference = json.find("difference");
  if (difference != json.end() && difference->is_number()) {
    settling.difference = difference->get<double>();
  }
  const auto settled = json.find("settled");
  if (settled != json.end() && settled->is_boolean()) settling.settled = settled->get<bool>();
  return settling;
}

Json to_json(const Settling& settling) {
  Json json = {{"sweeps", settling.sweeps}, {"disturbed", settling.disturbed}};
  if (settling.settled) json["settled"] = *settling.settled;
  if (settling.difference) json["difference"] = *settling.difference;
  return json;
}

/// Combines two: false if one is false, not known if one is not known.
std::optional<bool> both_settled(std::optional<bool> a, std::optional<bool> b) {
  if (a == false || b == false) return false;
  return a && b ? std::optional(true) : std::nullopt;
}

/// Adds a settling to a sum.
void add(const Settling& settling, Settling& sum) {
  sum.settled = sum.sweeps == 0 ? settling.settled : both_settled(sum.settled, settling.settled);
  sum.sweeps += settling.sweeps;
  sum.disturbed += settling.disturbed;
  if (settling.difference) {
    sum.difference = std::max(sum.difference.value_or(0), *settling.difference);
  }
}

/// Returns the settling by kind of entry; empty where the protocol has none.
std::map<std::string, Settling> settling_by_kind(const Configuration& configuration) {
  std::map<std::string, Settling> all;
  if (!configuration.protocol->is_object()) return all;
  const auto found = configuration.protocol->find(kSettlingKey);
  if (found == configuration.protocol->end() || !found->is_object()) return all;
  for (const auto& [what, entry] : found->items()) all[what] = settling_from_json(entry);
  return all;
}

std::string settling_text(std::string_view what, const Settling& settling) {
  char percent[32];
  std::snprintf(percent, sizeof percent, "%.1f", 100 * settling.difference.value_or(0));
  return std::string(what) + " differ by up to " + percent +
         " % between the first and the second half of their " + std::to_string(settling.sweeps) +
         " sweeps, " + std::to_string(settling.disturbed) + " of which were disturbed";
}

}  // namespace

void add_settling(Configuration& configuration, std::string_view what, const Settling& settling) {
  if (!configuration.protocol->is_object()) configuration.protocol = Json::object();
  Json& all = configuration.protocol[kSettlingKey];
  if (!all.is_object()) all = Json::object();
  Json& entry = all[std::string(what)];
  Settling sum = settling_from_json(entry);
  add(settling, sum);
  entry = to_json(sum);
}

void add_settling_since(const Configuration& before, const Configuration& after,
                        Configuration& now) {
  const auto known = settling_by_kind(before);
  for (const auto& [what, whole] : settling_by_kind(after)) {
    Settling since = whole;
    if (const auto at = known.find(what); at != known.end()) {
      since.sweeps -= std::min(since.sweeps, at->second.sweeps);
      since.disturbed -= std::min(since.disturbed, at->second.disturbed);
    }
    if (since.sweeps > 0) add_settling(now, what, since);
  }
}

Json general_protocol(const Configuration& configuration) {
  if (!configuration.protocol->is_object()) return Json::object();
  Json general = configuration.protocol;
  general.erase(kSettlingKey);
  general.erase(kIncompleteKey);
  return general;
}

bool is_incomplete(const Configuration& configuration) {
  return configuration.protocol->is_object() && configuration.protocol->contains(kIncompleteKey);
}

std::set<std::string> unfinished_operators(const Configuration& configuration) {
  std::set<std::string> signatures;
  if (!configuration.protocol->is_object()) return signatures;
  const auto found = configuration.protocol->find(kIncompleteKey);
  if (found == configuration.protocol->end() || !found->is_array()) return signatures;
  for (const Json& each : *found) {
    if (each.is_string()) signatures.insert(each.get<std::string>());
  }
  return signatures;
}

void mark_operators(Configuration& configuration, const std::vector<std::string>& signatures,
                    bool finished) {
  if (!configuration.protocol->is_object()) configuration.protocol = Json::object();
  if (finished && !configuration.protocol->contains(kIncompleteKey)) return;
  std::set<std::string> all = unfinished_operators(configuration);
  for (const std::string& each : signatures) {
    if (finished) {
      all.erase(each);
    } else {
      all.insert(each);
    }
  }
  configuration.protocol[kIncompleteKey] = all;
}

void mark_incomplete(Configuration& configuration, bool stopped) {
  if (stopped) {
    mark_operators(configuration, {}, false);
  } else if (unfinished_operators(configuration).empty() && configuration.protocol->is_object()) {
    configuration.protocol->erase(kIncompleteKey);
  }
}

std::string disturbed_text(std::span<const Configuration* const> configurations) {
  Settling sum;
  for (const Configuration* const configuration : configurations) {
    for (const auto& [what, settling] : settling_by_kind(*configuration)) add(settling, sum);
  }
  if (sum.disturbed == 0) return {};
  const double share = static_cast<double>(sum.disturbed) / static_cast<double>(sum.sweeps);
  char percent[32];
  std::snprintf(percent, sizeof percent, "%.1f", 100 * share);
  return "disturbed: " + std::to_string(sum.disturbed) + " of " + std::to_string(sum.sweeps) +
         " sweeps, " + percent +
         " % (a machine did something else meanwhile; times leave them out while enough others "
         "remain)";
}

std::string unsettled_text(const Configuration& configuration) {
  std::string all;
  if (is_incomplete(configuration)) all = "measuring was stopped before its end";
  for (const auto& [what, settling] : settling_by_kind(configuration)) {
    if (settling.settled.value_or(true)) continue;
    if (!all.empty()) all += "; ";
    all += settling_text(what, settling);
  }
  return all;
}

std::string unsettled_text(const Profile& profile, const Platform& platform) {
  std::string all;
  std::set<const Configuration*> seen;
  for (std::size_t d = 0; d < platform.size(); ++d) {
    const Configuration* const used = profile.find(platform, DeviceId(d));
    if (!used || !seen.insert(used).second) continue;
    const std::string unsettled = unsettled_text(*used);
    if (unsettled.empty()) continue;
    if (!all.empty()) all += "; ";
    all += profile.file + ", " + used->kind;
    if (used->threads > 0) all += " with " + std::to_string(used->threads) + " threads";
    all += " among " + std::to_string(used->ranks) + " ranks: " + unsettled;
  }
  return all;
}

}  // namespace hios
