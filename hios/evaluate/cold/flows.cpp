#include "hios/evaluate/cold/flows.h"

#include <algorithm>

// Progressive filling: the rates of all flows rise together. A flow that reaches its own limit, or
// a bus of which is full, keeps its rate; the others rise on. The result is max-min fair.
//
// A flow that begins or ends changes the rates of few others. A bus that could serve all its flows
// at the rates that they have alone limits none of them. So share() visits the buses of the flows
// that changed, goes on from a bus to its flows only where these contend for it, or did before, and
// leaves all others as they are. Where every flow contends, a change is linear in flows and their
// buses, and buses times the rounds in which one is full.
//
// A flow's end is known from its rate: its bytes are counted only when the rate changes, so that no
// error adds up while others come and go. Tests: tests/hios/evaluate/cold/flows_test.cpp.

namespace hios {
namespace {

constexpr double kBytesPerMs = 1e6;  ///< of a GB a second
constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

Flows::Flows(std::span<const Bus> buses) {
  for (const Bus& bus : buses) buses_.emplace_back().capacity = bus.gb_per_s * kBytesPerMs;
}

Flows::FlowId Flows::start(const Flow& flow) {
  std::uint32_t slot = static_cast<std::uint32_t>(slots_.size());
  if (free_slots_.empty()) {
    slots_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  slots_[slot] = {.id = next_id_,
                  .over = flow.over,
                  .begins_ms = now_ms_ + flow.latency_ms,
                  .most = most_of(flow.over, flow.gb_per_s),
                  .left = flow.bytes};
  if (flow.latency_ms > 0 || flow.bytes < kEndBytes) {
    waiting_.push_back(slot);
  } else {
    begin(slot);
  }
  return next_id_++;
}

double Flows::most_of(std::span<const BusId> over, double gb_per_s) const {
  double most = gb_per_s * kBytesPerMs;
  for (const BusId bus : over) most = std::min(most, buses_[bus.index()].capacity);
  return most;
}

// To the others on its buses it is as if the flow ended, and another started.
void Flows::limit(FlowId id, double gb_per_s) {
  const auto is = [&](std::uint32_t slot) { return slots_[slot].id == id; };
  const auto waiting = std::ranges::find_if(waiting_, is);
  const auto found = waiting == waiting_.end() ? std::ranges::find_if(by_most_, is) : waiting;
  if (found == by_most_.end()) return;
  const std::uint32_t slot = *found;
  UnderWay& flow = slots_[slot];
  const double most = most_of(flow.over, gb_per_s);
  if (waiting == waiting_.end() && most != flow.most) {
    by_most_.erase(found);
    for (const BusId bus : flow.over) {
      buses_[bus.index()].ended += flow.most;
      ended_over_.push_back(bus);
    }
    flow.most = most;
    insert_by_most(slot);
    touch(slot);
    changed_ = true;
  }
  flow.most = most;
}

double Flows::next_change_ms() {
  share();
  double next_ms = kNever;
  for (const std::uint32_t slot : waiting_) next_ms = std::min(next_ms, slots_[slot].begins_ms);
  for (const std::uint32_t slot : by_most_) next_ms = std::min(next_ms, slots_[slot].ends_ms);
  return std::max(next_ms, now_ms_);
}

double Flows::gb_per_s(FlowId flow) {
  share();
  const auto found = std::ranges::find(by_most_, flow, [&](auto slot) { return slots_[slot].id; });
  return found == by_most_.end() ? 0 : slots_[*found].rate / kBytesPerMs;
}

bool Flows::has_ended(const UnderWay& flow, double ms) const {
  return flow.ends_ms <= same_time_ms(ms) || (flow.ends_ms - ms) * flow.rate < kEndBytes;
}

std::vector<Flows::FlowId> Flows::advance(double ms) {
  share();
  now_ms_ = ms;
  std::vector<FlowId> ended;
  std::vector<std::uint32_t> ending;
  for (const std::uint32_t slot : by_most_) {
    if (has_ended(slots_[slot], ms)) ending.push_back(slot);
  }
  for (const std::uint32_t slot : ending) {
    ended.push_back(slots_[slot].id);
    end(slot);
  }
  std::erase_if(waiting_, [&](std::uint32_t slot) {
    if (slots_[slot].begins_ms > same_time_ms(ms)) return false;
    if (slots_[slot].left < kEndBytes) {
      ended.push_back(slots_[slot].id);
      free_slots_.push_back(slot);
    } else {
      begin(slot);
    }
    return true;
  });
  std::ranges::sort(ended);
  return ended;
}

void Flows::begin(std::uint32_t slot) {
  insert_by_most(slot);
  for (const BusId bus : slots_[slot].over) buses_[bus.index()].flows.push_back(slot);
  slots_[slot].since_ms = now_ms_;
  touch(slot);
  changed_ = true;
}

void Flows::insert_by_most(std::uint32_t slot) {
  const auto most = [&](std::uint32_t each) { return slots_[each].most; };
  by_most_.insert(std::ranges::upper_bound(by_most_, most(slot), {}, most), slot);
}

void Flows::end(std::uint32_t slot) {
  std::erase(by_most_, slot);
  for (const BusId bus : slots_[slot].over) {
    Used& used = buses_[bus.index()];
    std::erase(used.flows, slot);
    used.ended += slots_[slot].most;
    ended_over_.push_back(bus);
  }
  free_slots_.push_back(slot);
  changed_ = true;
}

void Flows::touch(std::uint32_t slot) {
  if (slots_[slot].changes) return;
  slots_[slot].changes = true;
  touched_.push_back(slot);
}

void Flows::visit(BusId bus) {
  Used& used = buses_[bus.index()];
  if (used.visited) return;
  used.visited = true;
  double wanted = used.ended;
  for (const std::uint32_t slot : used.flows) wanted += slots_[slot].most;
  if (wanted <= used.capacity) return;
  contested_.push_back(bus);
  used.free = used.capacity;
  used.open = used.flows.size();
  for (const std::uint32_t slot : used.flows) touch(slot);
}

void Flows::share() {
  if (!changed_) return;
  changed_ = false;
  for (const BusId bus : ended_over_) visit(bus);
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    for (const BusId bus : slots_[touched_[i]].over) visit(bus);
  }
  fill();
  // Uncontested buses were visited, too.
  for (const std::uint32_t slot : touched_) {
    for (const BusId bus : slots_[slot].over) buses_[bus.index()].visited = false;
    slots_[slot].changes = slots_[slot].shared = false;
  }
  for (const BusId bus : ended_over_) {
    buses_[bus.index()].visited = false;
    buses_[bus.index()].ended = 0;
  }
  touched_.clear();
  ended_over_.clear();
  contested_.clear();
}

void Flows::fill() {
  const bool all = touched_.size() == by_most_.size();
  std::vector<std::uint32_t> rising;  // by their rates alone
  for (const std::uint32_t slot : by_most_) {
    if (all || slots_[slot].changes) rising.push_back(slot);
  }
  std::size_t next = 0;
  while (next < rising.size()) {
    double level = kNever;
    const Used* full = nullptr;
    std::erase_if(contested_, [&](BusId bus) { return buses_[bus.index()].open == 0; });
    for (const BusId bus : contested_) {
      const Used& used = buses_[bus.index()];
      const double share = std::max(0.0, used.free) / static_cast<double>(used.open);
      if (share >= level) continue;
      level = share;
      full = &used;
    }
    bool limited = false;
    for (; next < rising.size(); ++next) {
      const UnderWay& flow = slots_[rising[next]];
      if (flow.shared) continue;
      if (flow.most > level) break;
      determine(rising[next], flow.most);
      limited = true;
    }
    if (limited || !full) continue;
    for (const std::uint32_t slot : full->flows) {
      if (!slots_[slot].shared) determine(slot, level);
    }
  }
}

void Flows::determine(std::uint32_t slot, double rate) {
  UnderWay& flow = slots_[slot];
  flow.shared = true;
  for (const BusId bus : flow.over) {
    Used& used = buses_[bus.index()];
    used.free -= rate;
    if (used.open > 0) --used.open;
  }
  if (rate == flow.rate) return;
  // Its bytes so far went at the rate before, which is finite where it changes.
  if (flow.rate > 0) flow.left = std::max(0.0, flow.left - flow.rate * (now_ms_ - flow.since_ms));
  flow.since_ms = now_ms_;
  flow.rate = rate;
  flow.ends_ms = now_ms_ + flow.left / rate;
}

}  // namespace hios
