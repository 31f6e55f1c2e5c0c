#include "scheduler/best/placement.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "hios/error.h"
#include "hios/random.h"

// First-fit decreasing and its kin. Operators of one label are one item. Items are placed one at a
// time, each on a device that can run all of it and has room: first attempts by falling size of
// memory, to the device that would be busy the least time, or that would have the least room left;
// further ones in orders shuffled by a fixed seed. An attempt is O(items · devices).
//
// Not complete: a placement that exists may be missed where memory is nearly full.

namespace hios::scheduler::best {
namespace {

constexpr int kAttempts = 400;

struct Item {
  std::vector<OpId> operators;
  Bytes held_bytes = 0;
  std::vector<double> ms;  ///< by device; infinity where one of the operators cannot run
};

Bytes added(Bytes a, Bytes b) { return a + std::min(b, std::numeric_limits<Bytes>::max() - a); }

std::vector<Item> items_of(const CostModel& costs) {
  const Graph& graph = costs.graph();
  std::vector<Item> items;
  std::map<std::string_view, std::size_t> item_of_label;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Operator& op = graph.op(OpId(i));
    std::size_t item = items.size();
    if (!op.colocate.empty()) item = item_of_label.emplace(op.colocate, item).first->second;
    if (item == items.size())
      items.push_back({{}, 0, std::vector<double>(costs.platform().size())});
    items[item].operators.push_back(OpId(i));
    items[item].held_bytes = added(items[item].held_bytes, op.memory_bytes);
    items[item].held_bytes = added(items[item].held_bytes, op.parameter_bytes);
    for (std::size_t d = 0; d < costs.platform().size(); ++d) {
      items[item].ms[d] += costs.operator_ms(OpId(i), DeviceId(d));
    }
  }
  return items;
}

class Attempt {
 public:
  Attempt(const Platform& platform, bool balance)
      : balance_(balance), busy_ms_(platform.size(), 0) {
    for (const Device& device : platform.devices()) {
      const Bytes limit = device.memory_bytes;
      room_.push_back(limit == 0 ? std::numeric_limits<Bytes>::max() : limit);
    }
  }

  std::optional<DeviceId> place(const Item& item) {
    std::optional<std::size_t> best;
    for (std::size_t d = 0; d < room_.size(); ++d) {
      const bool able = item.ms[d] < std::numeric_limits<double>::infinity();
      if (able && item.held_bytes <= room_[d] && (!best || better(item, d, *best))) best = d;
    }
    if (!best) return std::nullopt;
    busy_ms_[*best] += item.ms[*best];
    if (room_[*best] != std::numeric_limits<Bytes>::max()) room_[*best] -= item.held_bytes;
    return DeviceId(*best);
  }

 private:
  bool better(const Item& item, std::size_t device, std::size_t than) const {
    if (!balance_) return room_[device] < room_[than];
    return busy_ms_[device] + item.ms[device] < busy_ms_[than] + item.ms[than];
  }

  bool balance_;
  std::vector<Bytes> room_;
  std::vector<double> busy_ms_;
};

void shuffle(std::vector<Item>& items, Random& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

}  // namespace

std::vector<std::optional<DeviceId>> place_all(const CostModel& costs) {
  std::vector<Item> items = items_of(costs);
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.held_bytes > b.held_bytes; });
  Random random(0, "placement");
  std::string stuck;
  for (int i = 0; i < kAttempts; ++i) {
    Attempt attempt(costs.platform(), i % 2 == 0);
    std::vector<std::optional<DeviceId>> device_of(costs.graph().size());
    bool complete = true;
    for (const Item& item : items) {
      const auto device = attempt.place(item);
      complete = device.has_value();
      if (!complete && stuck.empty()) stuck = costs.graph().op(item.operators.front()).name;
      if (!complete) break;
      for (OpId op : item.operators) device_of[op.index()] = device;
    }
    if (complete) return device_of;
    if (i > 0) shuffle(items, random);
  }
  throw InputError("best: found no devices that hold all operators; " + stuck +
                   " was the first without room: give the devices more memory_bytes, or drop "
                   "`colocate` and `allowed` where they can be");
}

}  // namespace hios::scheduler::best
