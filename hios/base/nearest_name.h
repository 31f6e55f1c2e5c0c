#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace hios {

/// Returns the name that a mistyped word most likely means: the one at the smallest edit distance
/// (insert, remove, replace, swap two neighbours), the first of several, if at most a third of the
/// longer one's characters differ; else the shortest name that begins with the word, from three
/// characters on. Upper and lower case are equal, and so are '-' and '_'. Empty: no name is near.
std::string_view nearest_name(std::string_view word, std::span<const std::string_view> names);

/// Returns "; did you mean NAME?" for such a word, or an empty text.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> names);
std::string did_you_mean(std::string_view word, std::initializer_list<std::string_view> names);

}  // namespace hios
