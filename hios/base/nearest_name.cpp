#include "hios/base/nearest_name.h"

#include <algorithm>
#include <vector>

#include "hios/base/error.h"

// The distance is that of optimal string alignment: Levenshtein's, with a swap of two neighbours as
// one step, since that is how fingers err. Words are short; a long one is near to no name.
namespace hios {
namespace {

constexpr std::size_t kLongestWord = 64;
constexpr std::size_t kFewestForBeginning = 3;

/// Returns the text in lower case, with '-' for '_'.
std::string plain(std::string_view text) {
  std::string made;
  for (const char c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    made += c == '_' ? '-' : upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return made;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_before, before(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) before[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t other = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({before[j] + 1, row[j - 1] + 1, before[j - 1] + other});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], two_before[j - 2] + 1);
    }
    two_before = before;
    before = row;
  }
  return before[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view word, std::span<const std::string_view> names) {
  if (word.empty() || word.size() > kLongestWord) return {};
  const std::string wanted = plain(word);
  std::string_view nearest, begins;
  std::size_t least = wanted.size();
  for (const std::string_view name : names) {
    const std::string known = plain(name);
    const std::size_t distance = edit_distance(wanted, known);
    if (3 * distance <= std::max(wanted.size(), known.size()) && distance < least) {
      least = distance;
      nearest = name;
    }
    if (wanted.size() >= kFewestForBeginning && known.starts_with(wanted) &&
        (begins.empty() || name.size() < begins.size())) {
      begins = name;
    }
  }
  return nearest.empty() ? begins : nearest;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> names) {
  const std::string_view nearest = nearest_name(word, names);
  return nearest.empty() ? "" : "; did you mean " + printable(nearest) + "?";
}

std::string did_you_mean(std::string_view word, std::initializer_list<std::string_view> names) {
  return did_you_mean(word, std::span(names.begin(), names.size()));
}

}  // namespace hios
