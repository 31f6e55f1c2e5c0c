#include "scheduler/best/state/precedences.h"

#include <algorithm>
#include <utility>

// A search decides few precedences, so the old ones are copied as a whole. Tests:
// tests/scheduler/best/state/precedences_test.cpp.

namespace hios::scheduler::best {

void Precedences::note() {
  if (!old_) old_ = now_;
}

bool Precedences::add(const TransferPrecedence& precedence) {
  if (std::find(now_.begin(), now_.end(), precedence) != now_.end()) return false;
  note();
  std::erase(now_, TransferPrecedence{precedence.after, precedence.before});
  now_.push_back(precedence);
  return true;
}

void Precedences::remove(std::size_t index) {
  note();
  now_.erase(now_.begin() + static_cast<std::ptrdiff_t>(index));
}

void Precedences::undo() {
  if (!old_) return;
  now_ = std::move(*old_);
  old_.reset();
}

}  // namespace hios::scheduler::best
