#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "hios/base/ids.h"

namespace hios::scheduler {

/// The table of Alg. 3: row i has for each device an entry, "v_i runs there and finishes then", and
/// the entry of row i−1 that precedes it. An entry thus stands for a history: its device, that of
/// v_{i−1}, … back to v_1. All histories together are a tree whose nodes are the entries.
///
/// To find an entry's ancestor in an earlier row in O(log i) steps, each entry knows, besides its
/// parent, one ancestor further up (the jump pointers of Myers' random-access lists). The length of
/// a jump depends on the row alone.
class HistoryTree {
 public:
  struct Entry {
    double finish_ms = std::numeric_limits<double>::infinity();
    std::uint32_t parent = 0;  ///< device of the entry in the previous row
    std::uint32_t jump = 0;    ///< device of the ancestor in the row that this row jumps to
    bool exists() const { return finish_ms < std::numeric_limits<double>::infinity(); }
  };

  HistoryTree(std::size_t rows, std::size_t devices)
      : devices_(devices), entries_(rows * devices), jump_row_(rows, 0) {}

  const Entry& entry(std::size_t row, DeviceId device) const {
    return entries_[row * devices_ + device.index()];
  }

  /// REQUIRES: no entry of the row exists.
  void begin_row(std::size_t row) {
    if (row == 0) return;
    const std::size_t above = row - 1, jump = jump_row_[above];
    const bool equal_steps = above - jump == jump - jump_row_[jump];
    jump_row_[row] = equal_steps ? jump_row_[jump] : above;
  }

  /// Replaces the entry if it exists. `parent` is ignored in row 0.
  void set(std::size_t row, DeviceId device, double finish_ms, DeviceId parent) {
    Entry& entry = entries_[row * devices_ + device.index()];
    entry.finish_ms = finish_ms;
    if (row == 0) return;
    entry.parent = static_cast<std::uint32_t>(parent.index());
    entry.jump = entry.parent;
    if (jump_row_[row] + 1 == row) return;
    const Entry& above = entries_[(row - 1) * devices_ + entry.parent];
    entry.jump = entries_[jump_row_[row - 1] * devices_ + above.jump].jump;
  }

  /// Returns the device of the ancestor in row `earlier`, or the entry's own if that is its row.
  DeviceId ancestor(std::size_t row, DeviceId device, std::size_t earlier) const {
    std::size_t at = device.index();
    while (row > earlier) {
      const Entry& entry = entries_[row * devices_ + at];
      const bool jump = jump_row_[row] >= earlier;
      at = jump ? entry.jump : entry.parent;
      row = jump ? jump_row_[row] : row - 1;
    }
    return DeviceId(at);
  }

 private:
  std::size_t devices_;
  std::vector<Entry> entries_;  // row × device
  std::vector<std::size_t> jump_row_;
};

}  // namespace hios::scheduler
