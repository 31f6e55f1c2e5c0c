#include "hios/evaluate/cold/weight_room.h"

#include <algorithm>
#include <limits>
#include <map>

// A load waits until its device has room for it, and the device frees bytes in the order of its
// stages. How many bytes it holds by then depends on speeds: loads of other lanes may come before.
// So a load L counts everything that may be there: the outputs of all operators, residents, and
// what any lane loads there, except after L in its own lane. Its stage of release is the first
// after whose evictions L fits next to all that.
//
// Claim: where L also waits for its stage of release, for every L, and these waits and those of
// WeightWaits form no cycle, no schedule gets stuck, whatever the loads' speed. Otherwise, take the
// first node, in an order of all these waits, that never starts. All that it waits for has ended. A
// stage would start. A load has its source and its turn, and its stage of release has ended: the
// device holds at most what was counted, less what has been evicted, and the load starts as well.
//
// Where a load has no stage of release, or one that waits for it, the device fills up if all that
// was counted comes before it. The count includes loads of other lanes that wait for this one
// through a copy, so a few schedules are refused that would never wait.
//
// Cost: O(n log n) for n entries and stages, and the waits of each device that may fill up.

namespace hios {
namespace {

Bytes plus(Bytes a, Bytes b) { return a + std::min(b, std::numeric_limits<Bytes>::max() - a); }

/// Bytes by stage, and sums of the first of them (Fenwick's tree). Sums never saturate, since
/// find_lack_of_room() counts devices only whose bytes have a sum.
class FreedBytes {
 public:
  explicit FreedBytes(std::size_t stages) : sums_(stages + 1, 0) {}

  void add(std::size_t stage, Bytes bytes) { change(stage, bytes); }
  void remove(std::size_t stage, Bytes bytes) { change(stage, Bytes{0} - bytes); }

  /// Returns the first stage after which at least `bytes` are freed; nothing where all stages free
  /// less. REQUIRES: bytes > 0.
  std::optional<std::size_t> first_with(Bytes bytes) const {
    std::size_t at = 0, step = 1;
    while (step * 2 < sums_.size()) step *= 2;
    for (; step > 0; step /= 2) {
      if (at + step >= sums_.size() || sums_[at + step] >= bytes) continue;
      at += step;
      bytes -= sums_[at];
    }
    return at + 1 < sums_.size() ? std::optional(at) : std::nullopt;
  }

 private:
  void change(std::size_t stage, Bytes bytes) {
    for (std::size_t i = stage + 1; i < sums_.size(); i += i & (~i + 1)) sums_[i] += bytes;
  }

  std::vector<Bytes> sums_;
};

class RoomSearch {
 public:
  RoomSearch(const Graph& graph, const Platform& platform, const Schedule& schedule,
             const Assignment& assignment, const Holdings& holdings, const WeightWaits& waits)
      : graph_(graph),
        platform_(platform),
        schedule_(schedule),
        assignment_(assignment),
        holdings_(holdings),
        waits_(waits) {}

  std::vector<Finding> run() {
    std::vector<Bytes> outputs(platform_.size(), 0);
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      const auto& assigned = assignment_.find(OpId(v));
      if (!assigned) continue;
      Bytes& held = outputs[assigned->device.index()];
      held = plus(held, graph_.op(OpId(v)).memory_bytes);
    }
    for (std::size_t d = 0; d < platform_.size(); ++d) check_device(DeviceId(d), outputs[d]);
    if (findings_.empty() && !releases_.empty()) check_cycles();
    return std::move(findings_);
  }

 private:
  Bytes size_of(std::size_t set) const { return holdings_.sets().sets()[set].size_bytes; }

  void check_device(DeviceId device, Bytes outputs) {
    limit_ = platform_.device(device).memory_bytes;
    if (limit_ == 0) return;
    Bytes at_first = outputs;
    std::map<std::size_t, std::vector<std::pair<std::size_t, std::size_t>>> lanes;  // load, set
    all_ = outputs;
    for (const auto& [set, holding] : holdings_.on(device)) {
      if (!holding.exists()) continue;
      all_ = plus(all_, size_of(set));
      if (holding.resident) {
        at_first = plus(at_first, size_of(set));
      } else {
        lanes[holdings_.loads()[*holding.load].lane].emplace_back(*holding.load, set);
      }
    }
    if (all_ <= limit_) return;
    if (at_first > limit_) {
      add(device, "has no room at the beginning: outputs and resident parameters take " +
                      std::to_string(at_first));
      return;
    }
    if (all_ == std::numeric_limits<Bytes>::max()) {
      add(device, "has no room for all its parameters: with outputs, they take more than " +
                      std::to_string(all_ - 1));
      return;
    }
    first_stages_ = waits_.first_stages(device);
    FreedBytes freed(schedule_.stages(device).size());
    for (const auto& [set, holding] : holdings_.on(device)) {
      if (holding.eviction) freed.add(holding.last_stage, size_of(set));
    }
    for (auto& [lane, loads] : lanes) {
      if (!check_lane(device, loads, freed)) return;
    }
  }

  /// Finds the stages of release of a lane's loads to a device. Returns false after a finding.
  bool check_lane(DeviceId device, std::vector<std::pair<std::size_t, std::size_t>>& loads,
                  FreedBytes& freed) {
    std::ranges::sort(loads, std::greater());
    Bytes held = all_;
    for (const auto& [load, set] : loads) {  // the last first: it counts all others
      const Holding& holding = *holdings_.find(device, set);
      if (holding.eviction) freed.remove(holding.last_stage, size_of(set));
      if (held > limit_ && !check_load(device, load, held, freed)) return false;
      held -= size_of(set);
    }
    for (const auto& [load, set] : loads) {
      const Holding& holding = *holdings_.find(device, set);
      if (holding.eviction) freed.add(holding.last_stage, size_of(set));
    }
    return true;
  }

  bool check_load(DeviceId device, std::size_t load, Bytes held, const FreedBytes& freed) {
    const auto release = freed.first_with(held - limit_);
    const std::size_t node = waits_.load_node(load);
    if (release && first_stages_[node] > *release) {
      releases_.emplace_back(waits_.stage_node(device, *release), node);
      return true;
    }
    std::string text = describe_load(graph_, platform_, holdings_.loads()[load]) +
                       " may wait for room forever: with all that may be there before it, " +
                       platform_.device(device).name + " needs " + std::to_string(held) +
                       " bytes and has " + std::to_string(limit_);
    text += release ? "; evictions leave room after stage " + std::to_string(*release) +
                          ", which waits for this load itself"
                    : "; evictions free too little";
    add(Rule::kMemory, std::move(text), load);
    return false;
  }

  void check_cycles() {
    const WeightWaits all(graph_, schedule_, assignment_, holdings_, releases_);
    for (const std::vector<std::size_t>& cycle : all.cycles()) {
      add(Rule::kCycle, all.describe(cycle, graph_, platform_), *all.load_of(cycle.front()));
    }
  }

  void add(DeviceId device, const std::string& text) {
    const std::string whole =
        platform_.device(device).name + " " + text + " bytes, and it has " + std::to_string(limit_);
    findings_.push_back({Rule::kMemory, whole, {}, device, {}});
  }

  void add(Rule rule, std::string text, std::size_t load) {
    const Holdings::Listed& listed = holdings_.loads()[load];
    Finding finding{rule, std::move(text), listed.load->of, listed.load->to, {}};
    finding.weights = path_of_load(listed.lane, listed.index);
    findings_.push_back(std::move(finding));
  }

  const Graph& graph_;
  const Platform& platform_;
  const Schedule& schedule_;
  const Assignment& assignment_;
  const Holdings& holdings_;
  const WeightWaits& waits_;
  // The current device: its memory, all bytes that it ever holds, and the first stages there.
  Bytes limit_ = 0, all_ = 0;
  std::vector<std::size_t> first_stages_;
  std::vector<WeightWaits::Arc> releases_;  // a stage of release, and its load
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> find_lack_of_room(const Graph& graph, const Platform& platform,
                                       const Schedule& schedule, const Assignment& assignment,
                                       const Holdings& holdings, const WeightWaits& waits) {
  return RoomSearch(graph, platform, schedule, assignment, holdings, waits).run();
}

}  // namespace hios
