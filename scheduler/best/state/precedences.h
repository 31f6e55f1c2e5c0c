#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "hios/evaluate/message_run.h"

namespace hios::scheduler::best {

/// The precedences of transfers that a search has decided, where links or ports carry one tensor at
/// a time. Each change is undone as a whole, or kept. Not thread-safe.
class Precedences {
 public:
  std::span<const TransferPrecedence> all() const { return now_; }
  bool empty() const { return now_.empty(); }
  std::size_t size() const { return now_.size(); }

  /// Adds a precedence, in place of its reverse. Returns false where it is there already.
  bool add(const TransferPrecedence& precedence);
  /// Removes one by its index. REQUIRES: index < size().
  void remove(std::size_t index);

  void keep() { old_.reset(); }
  /// Reverts all changes since the last keep() or undo().
  void undo();

 private:
  void note();

  std::vector<TransferPrecedence> now_;
  std::optional<std::vector<TransferPrecedence>> old_;  // before the first change
};

}  // namespace hios::scheduler::best
