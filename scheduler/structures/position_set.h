#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace hios::scheduler {

/// A set of positions 0 … n−1 that finds the next element from a position on and the last one
/// before it. It has one bit per position and one per non-empty word, so that skipping a gap of
/// 4096 positions reads one word. As a worklist it yields positions in order, however they are
/// inserted.
class PositionSet {
 public:
  explicit PositionSet(std::size_t positions = 0)
      : words_((positions + 63) / 64, 0), summary_((words_.size() + 63) / 64, 0) {}

  /// Returns true if the set was made for no positions.
  bool none() const { return words_.empty(); }

  void insert(std::size_t position) {
    words_[position / 64] |= bit(position);
    summary_[position / 4096] |= bit(position / 64);
  }
  void erase(std::size_t position) {
    words_[position / 64] &= ~bit(position);
    if (words_[position / 64] == 0) summary_[position / 4096] &= ~bit(position / 64);
  }

  /// Returns the least element that is at least `from`.
  std::optional<std::size_t> next(std::size_t from) const {
    const auto here = first_from(words_, from, from / 64);
    if (here) return here;
    const std::size_t word = from / 64 + 1;
    if (word >= words_.size()) return std::nullopt;
    std::optional<std::size_t> found = first_from(summary_, word, word / 64);
    for (std::size_t s = word / 64 + 1; !found && s < summary_.size(); ++s) {
      found = first_from(summary_, s * 64, s);
    }
    if (!found) return std::nullopt;
    return *found * 64 + static_cast<std::size_t>(std::countr_zero(words_[*found]));
  }

  /// Returns the greatest element below `end`.
  std::optional<std::size_t> last_before(std::size_t end) const {
    if (end == 0) return std::nullopt;
    const auto here = last_up_to(words_, end - 1, (end - 1) / 64);
    if (here) return here;
    std::size_t word = (end - 1) / 64;
    if (word-- == 0) return std::nullopt;
    std::optional<std::size_t> found = last_up_to(summary_, word, word / 64);
    for (std::size_t s = word / 64; !found && s-- > 0;) {
      found = last_up_to(summary_, s * 64 + 63, s);
    }
    if (!found) return std::nullopt;
    return *found * 64 + 63 - static_cast<std::size_t>(std::countl_zero(words_[*found]));
  }

  /// Do the same as next() and last_before(), and erase the element: for a worklist in either
  /// direction.
  std::optional<std::size_t> take_next(std::size_t from) {
    const auto found = next(from);
    if (found) erase(*found);
    return found;
  }
  std::optional<std::size_t> take_last_before(std::size_t end) {
    const auto found = last_before(end);
    if (found) erase(*found);
    return found;
  }

  void clear() { clear_from(0); }
  /// Erases all elements that are at least `from`.
  void clear_from(std::size_t from) {
    const std::uint64_t before = bit(from) - 1;  // bits below `from` in its word
    for (auto at = next(from); at; at = next(*at)) {
      std::uint64_t& word = words_[*at / 64];
      word &= *at / 64 == from / 64 ? before : 0;
      if (word == 0) summary_[*at / 4096] &= ~bit(*at / 64);
    }
  }

 private:
  using Words = std::vector<std::uint64_t>;

  static std::uint64_t bit(std::size_t index) { return std::uint64_t{1} << (index % 64); }

  /// Returns the first set bit of a word from `from` on, or the last up to `to`.
  static std::optional<std::size_t> first_from(const Words& words, std::size_t from,
                                               std::size_t word) {
    if (word >= words.size()) return std::nullopt;
    const std::uint64_t left = words[word] & (~std::uint64_t{0} << (from % 64));
    if (left == 0) return std::nullopt;
    return word * 64 + static_cast<std::size_t>(std::countr_zero(left));
  }
  static std::optional<std::size_t> last_up_to(const Words& words, std::size_t to,
                                               std::size_t word) {
    const std::uint64_t left = words[word] & (~std::uint64_t{0} >> (63 - to % 64));
    if (left == 0) return std::nullopt;
    return word * 64 + 63 - static_cast<std::size_t>(std::countl_zero(left));
  }

  Words words_, summary_;
};

}  // namespace hios::scheduler
