#pragma once

#include <string>
#include <vector>

#include "hios/base/files/file_io.h"
#include "hios/base/json/json_view.h"

namespace hios {

/// The choice of sibling convolutions that are merged (hios/graph/fusion/merge_siblings.h): none,
/// all, or some sets of them.
struct Merge {
  bool all = false;
  /// Names of the convolutions of each set, two or more; empty where all are merged.
  std::vector<std::vector<std::string>> sets = {};

  bool none() const { return !all && sets.empty(); }
  bool operator==(const Merge&) const = default;

  static const Merge kNone, kSiblings;
};
inline const Merge Merge::kNone = {};
inline const Merge Merge::kSiblings = {.all = true};

/// Returns "none", "siblings" or, for two sets, "2 sets".
std::string to_string(const Merge& merge);

/// Returns the merge of "none", of "siblings", or of a schedule file, of which nothing but
/// `graph.merge` is read, so that it needs no stages. Throws InputError: none of these, or a bad
/// file.
Merge load_merge(const std::string& word_or_file, const ReadLimits& limits = {});

/// Reads "none", "siblings", or a list of lists of names. Throws InputError: none of these, a set
/// of fewer than two, or a name twice.
Merge merge_from_json(const JsonView& view);
Json to_json(const Merge& merge);

}  // namespace hios
