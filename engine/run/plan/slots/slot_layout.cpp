#include "engine/run/plan/slots/slot_layout.h"

#include <algorithm>

namespace hios {

Instants::Instants(std::size_t operators, std::span<const Stage> stages)
    : of_(operators, kElsewhere) {
  std::size_t now = 0;
  for (const Stage& stage : stages) {
    begin_.push_back(now);
    const bool in_order = stage.groups.size() == 1;
    for (const Group& group : stage.groups) {
      for (std::size_t i = 0; i < group.size(); ++i) {
        of_[group[i].index()] = in_order ? now + i : now;
      }
    }
    now += in_order ? stage.groups.front().size() : 1;
  }
  begin_.push_back(now);
}

Lifetime SlotLayout::lifetime(const Slot& slot) const {
  Lifetime life{slot.size_bytes(), 0, 0};
  if (!slot.received) life.first = life.last = instants_.of(slot.op);
  for (const EdgeId edge : coarse_.graph.out_edges(slot.op)) {
    const std::size_t read = instants_.of(coarse_.graph.edge(edge).to);
    if (read != Instants::kElsewhere) life.last = std::max(life.last, read);
  }
  if (!slot.received && free_stage_[slot.op.index()] > 0) {
    life.last = std::max(life.last, instants_.before(free_stage_[slot.op.index()]));
  }
  const bool kept = options_.keep_received && slot.received;
  if (kept || options_.keep_all || coarse_.is_output(slot.op)) life.last = instants_.last();
  if (is_buffered(slot)) life = {slot.size_bytes(), 0, instants_.last()};
  return life;
}

/// Returns the bytes of its region that a slot has.
ByteRange SlotLayout::in_region(const Slot& slot) const {
  const Bytes begin = coarse_.place_of(slot.op).begin;
  return {begin + slot.bytes.begin, begin + slot.bytes.end};
}

/// Extends a region to a further slot, and to any gap between them.
void SlotLayout::join(Region& region, const Slot& slot) const {
  const Lifetime life = lifetime(slot);
  region.bytes = hull(region.bytes, in_region(slot));
  region.life.first = std::min(region.life.first, life.first);
  region.life.last = std::max(region.life.last, life.last);
  region.buffered |= is_buffered(slot);
  region.slots.push_back(&slot);
}

Bytes SlotLayout::lay_out(std::vector<Slot>& slots) const {
  std::vector<Region> regions;
  std::map<std::size_t, std::size_t> known;  // by Place::region
  for (const Slot& slot : slots) {
    if (slot.shared) continue;
    const auto [found, is_new] = known.emplace(coarse_.place_of(slot.op).region, regions.size());
    if (is_new) regions.push_back({in_region(slot), lifetime(slot), false});
    join(regions[found->second], slot);
  }
  for (Region& region : regions) {
    // Rows are read from whole cache lines of their region, though a message may end between them.
    if (!coarse_.graph.batching()) region.bytes.begin = aligned_begin(region.bytes.begin);
    region.life.size_bytes = region.bytes.size();
  }
  const ArenaLayout layout =
      options_.any_order ? place_by_edges(regions) : place_by_instants(regions);
  for (Slot& slot : slots) {
    if (slot.shared) continue;
    const std::size_t number = known.at(coarse_.place_of(slot.op).region);
    const Region& region = regions[number];
    slot.offset = layout.offsets[number] + in_region(slot).begin - region.bytes.begin;
    if (region.buffered) slot.stride = region.stride();
  }
  return layout.peak_bytes;
}

ArenaLayout SlotLayout::place_by_instants(const std::vector<Region>& regions) const {
  std::vector<Lifetime> lifetimes;
  for (const Region& region : regions) {
    lifetimes.push_back(region.life);
    if (region.buffered) lifetimes.back().size_bytes = region.stride() * options_.in_flight;
  }
  return place_in_arena(lifetimes);
}

ArenaLayout SlotLayout::place_by_edges(const std::vector<Region>& regions) const {
  std::vector<Bytes> sizes;
  for (const Region& region : regions) sizes.push_back(region.life.size_bytes);
  const auto ends_before = [&](std::size_t a, std::size_t b) {
    return std::ranges::all_of(regions[a].slots, [&](const Slot* old) {
      return std::ranges::all_of(regions[b].slots,
                                 [&](const Slot* next) { return not_needed_at(*old, *next); });
    });
  };
  return place_in_arena(sizes, [&](std::size_t a, std::size_t b) {
    return !ends_before(a, b) && !ends_before(b, a);
  });
}

bool SlotLayout::not_needed_at(const Slot& old, const Slot& next) const {
  return !options_.keep_all && !next.received && !coarse_.is_output(old.op) &&
         chains_->not_needed(old.op, next.op, device_);
}

}  // namespace hios
