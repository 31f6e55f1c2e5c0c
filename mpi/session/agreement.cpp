#include "mpi/session/agreement.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "hios/base/error.h"
#include "hios/base/rank_list.h"
#include "mpi/exchange.h"

// Every rank gathers the facts of every rank and draws the same conclusion, so all throw or none
// does, with the same text. No rank decides for the others: a rank that had to wait for a verdict
// could wait forever. Each call is one gather. Tests: tests/mpi/session/agreement_test.cpp.
namespace hios::mpi {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

std::optional<std::string> value_of(const Facts& facts, const std::string& name) {
  for (const auto& [fact, value] : facts) {
    if (fact == name) return value;
  }
  return std::nullopt;
}

/// Describes the ranks' values of `name`; empty if all have the same.
std::string difference(const std::vector<Facts>& by_rank, const std::string& name) {
  std::vector<std::optional<std::string>> values;
  for (const Facts& facts : by_rank) values.push_back(value_of(facts, name));
  const std::string groups = groups_text(values);
  return groups.empty() ? groups : name + " differs: " + groups;
}

/// Returns all names that any rank knows, in the order of the ranks.
std::vector<std::string> names_of(const std::vector<Facts>& by_rank) {
  std::vector<std::string> names;
  for (const Facts& facts : by_rank) {
    for (const auto& [name, value] : facts) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

}  // namespace

std::string groups_text(const std::vector<std::optional<std::string>>& by_rank) {
  std::vector<std::pair<std::optional<std::string>, std::vector<std::size_t>>> groups;
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& known) { return known.first == by_rank[rank]; });
    if (group == groups.end()) group = groups.insert(groups.end(), {by_rank[rank], {}});
    group->second.push_back(rank);
  }
  if (groups.size() <= 1) return {};
  std::string text;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto& [value, ranks] = groups[i];
    if (i > 0) text += ", ";
    text += rank_list(ranks) + (ranks.size() == 1 ? " has " : " have ");
    text += !value ? "none" : value->empty() ? "an empty one" : *value;
  }
  return text;
}

std::string joint_message(const std::vector<std::string>& messages) {
  const auto first = std::find_if(messages.begin(), messages.end(),
                                  [](const std::string& text) { return !text.empty(); });
  if (first == messages.end()) return {};
  const bool alike = std::all_of(messages.begin(), messages.end(),
                                 [&](const std::string& text) { return text == *first; });
  return alike ? *first : "rank " + std::to_string(first - messages.begin()) + ": " + *first;
}

void agree_on_input(Transport& transport, const std::string& message, const Need& need) {
  using Answer = std::tuple<std::string, Need>;
  std::vector<std::string> texts;
  Need first_need;
  for (auto& [text, need_there] : gather(transport, Answer(message, need))) {
    const bool is_first = !text.empty() && joint_message(texts).empty();
    if (is_first) first_need = std::move(need_there);
    texts.push_back(std::move(text));
  }
  const std::string joint = joint_message(texts);
  if (!joint.empty()) throw InputError(joint, first_need);
}

void agree_on_facts(Transport& transport, const Facts& facts) {
  const std::vector<Facts> by_rank = gather(transport, facts);
  std::string differences;
  for (const std::string& name : names_of(by_rank)) {
    const std::string text = difference(by_rank, name);
    if (text.empty()) continue;
    if (!differences.empty()) differences += "; ";
    differences += text;
  }
  if (!differences.empty()) {
    throw InputError(differences + " (give every rank the same arguments)");
  }
}

}  // namespace hios::mpi
