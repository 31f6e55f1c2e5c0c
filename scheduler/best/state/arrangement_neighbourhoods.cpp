// Operations on whole neighbourhoods of the sequence (class of scheduler/best/state/arrangement.h).

#include <algorithm>

#include "scheduler/best/state/arrangement.h"

namespace hios::scheduler::best {

void Arrangement::reorder(const std::vector<double>& key) {
  std::vector<Slot> stages;
  std::vector<Slot> unused;
  for (std::size_t p = neighbourhood_.first; p < neighbourhood_.end; ++p) {
    (empty(sequence_[p]) ? unused : stages).push_back(sequence_[p]);
  }
  std::stable_sort(stages.begin(), stages.end(), [&](Slot a, Slot b) { return key[a] < key[b]; });
  auto position = static_cast<std::uint32_t>(neighbourhood_.first);
  const auto append = [&](Slot slot) {
    sequence_[position] = slot;
    position_[slot] = position++;
  };
  for (Slot slot : stages) {
    append(slot);
    for (std::size_t i = 1; i < operators_[slot].size(); ++i) {
      append(unused.back());
      unused.pop_back();
    }
  }
}

/// Copies the links of the previous and next stage on its device, if outside the neighbourhood.
void Arrangement::copy_links(const Arrangement& other, Slot slot) {
  for (Slot near : {before_[slot], after_[slot]}) {
    if (near == kNoSlot || neighbourhood_.holds(position_[near])) continue;
    before_[near] = other.before_[near];
    after_[near] = other.after_[near];
  }
}

void Arrangement::take_neighbourhood(const Arrangement& other) {
  for (std::size_t p = neighbourhood_.first; p < neighbourhood_.end; ++p) {
    if (!empty(sequence_[p])) copy_links(other, sequence_[p]);
  }
  for (std::size_t p = neighbourhood_.first; p < neighbourhood_.end; ++p) {
    const Slot slot = other.sequence_[p];
    sequence_[p] = slot;
    position_[slot] = static_cast<std::uint32_t>(p);
    operators_[slot] = other.operators_[slot];
    for (OpId op : operators_[slot]) slot_of_[op.index()] = slot;
    device_[slot] = other.device_[slot];
    cost_ms_[slot] = other.cost_ms_[slot];
    before_[slot] = other.before_[slot];
    after_[slot] = other.after_[slot];
    if (!empty(slot)) copy_links(other, slot);
  }
  first_ = other.first_;
  last_ = other.last_;
  held_bytes_ = other.held_bytes_;
  excess_bytes_ = other.excess_bytes_;
  overfull_devices_ = other.overfull_devices_;
  work_ms_ = noted_work_ms_ = other.work_ms_;
}

}  // namespace hios::scheduler::best
