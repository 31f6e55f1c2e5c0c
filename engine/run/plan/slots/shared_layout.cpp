#include "engine/run/plan/slots/shared_layout.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/backend/arena.h"

namespace hios {
namespace {

constexpr std::size_t kNoStage = SIZE_MAX;

/// A region and the stages that use it.
struct SharedRegion {
  std::vector<OpId> producers;
  ByteRange bytes = {};
  std::vector<std::size_t> first_write;  // by rank: the first stage that writes it; or kNoStage
  std::vector<std::size_t> last_use;     // by rank: the last that writes or reads it; or kNoStage
  bool travels = false;                  // from one rank of the group to another
  bool elsewhere = false;                // a rank of another group writes to it
  bool kept = false;                     // to the end of the iteration
};

class Regions {
 public:
  Regions(const CoarseGraph& coarse, const Schedule& schedule, const StageOrder& order,
          std::span<const std::size_t> sharers, std::size_t rank)
      : coarse_(coarse),
        order_(order),
        sharers_(sharers),
        group_(sharers[rank]),
        ranks_(schedule.devices.size()) {
    for (const OpId op : coarse.graph.topological()) add(op);
  }

  /// Returns those that lie in the shared arena.
  std::vector<SharedRegion> of_group() const {
    std::vector<SharedRegion> found;
    for (const auto& [number, region] : regions_) {
      if (region.travels && !region.elsewhere) found.push_back(region);
    }
    return found;
  }

 private:
  void add(OpId op) {
    const Place place = coarse_.place_of(op);
    const ByteRange bytes{place.begin, place.begin + coarse_.graph.op(op).memory_bytes};
    const auto [found, is_new] = regions_.try_emplace(place.region);
    SharedRegion& region = found->second;
    if (is_new) {
      region.bytes = bytes;
      region.first_write.assign(ranks_, kNoStage);
      region.last_use.assign(ranks_, kNoStage);
    }
    region.bytes = hull(region.bytes, bytes);
    region.producers.push_back(op);
    region.kept |= coarse_.is_output(op);
    const auto [device, stage] = at(op);
    region.elsewhere |= sharers_[device] != group_;
    std::size_t& first = region.first_write[device];
    first = std::min(first, stage);
    use(region, device, stage);
    for (const EdgeId edge : coarse_.graph.out_edges(op)) {
      const auto [consumer, read] = at(coarse_.graph.edge(edge).to);
      if (sharers_[consumer] != group_) {
        region.kept = true;  // its message may be under way for as long as it takes
      } else {
        region.travels |= consumer != device;
        use(region, consumer, read);
      }
    }
  }

  std::pair<std::size_t, std::size_t> at(OpId op) const {
    const AssignedTo& to = order_.of(op);
    return {to.device.index(), to.stage};
  }

  static void use(SharedRegion& region, std::size_t rank, std::size_t stage) {
    std::size_t& last = region.last_use[rank];
    if (last == kNoStage || last < stage) last = stage;
  }

  const CoarseGraph& coarse_;
  const StageOrder& order_;
  const std::span<const std::size_t> sharers_;
  const std::size_t group_, ranks_;
  std::map<std::size_t, SharedRegion> regions_;  // by Place::region
};

/// Returns true if all uses of a region have ended before another is first written.
bool ends_before(const SharedRegion& old, const SharedRegion& next, const StageOrder& order) {
  if (old.kept) return false;
  for (std::size_t rank = 0; rank < next.first_write.size(); ++rank) {
    const std::size_t write = next.first_write[rank];
    if (write == kNoStage) continue;
    for (std::size_t other = 0; other < old.last_use.size(); ++other) {
      const std::size_t use = old.last_use[other];
      if (use == kNoStage) continue;
      // A stage of another rank that has started has ended: its tensors were awaited.
      const std::size_t ended = other == rank ? write : order.started(rank, write, other);
      if (use >= ended) return false;
    }
  }
  return true;
}

}  // namespace

SharedLayout::SharedLayout(const CoarseGraph& coarse, const Schedule& schedule,
                           const StageOrder& order, std::span<const std::size_t> sharers,
                           std::size_t rank, bool reuse)
    : begin_(coarse.graph.size()) {
  std::vector<SharedRegion> regions = Regions(coarse, schedule, order, sharers, rank).of_group();
  std::vector<Bytes> sizes;
  for (SharedRegion& region : regions) {
    if (!coarse.graph.batching()) region.bytes.begin = aligned_begin(region.bytes.begin);
    sizes.push_back(region.bytes.size());
  }
  const ArenaLayout layout = place_in_arena(sizes, [&](std::size_t a, std::size_t b) {
    return !reuse || (!ends_before(regions[a], regions[b], order) &&
                      !ends_before(regions[b], regions[a], order));
  });
  for (std::size_t i = 0; i < regions.size(); ++i) {
    for (const OpId op : regions[i].producers) {
      begin_[op.index()] = layout.offsets[i] + coarse.place_of(op).begin - regions[i].bytes.begin;
    }
  }
  size_bytes_ = layout.peak_bytes;
}

}  // namespace hios
