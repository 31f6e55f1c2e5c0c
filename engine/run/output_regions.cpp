#include "engine/run/output_regions.h"

#include "engine/backend/arena.h"

namespace hios {

OutputRegions::OutputRegions(const CoarseGraph& coarse, std::span<const OpId> operators)
    : coarse_(coarse) {
  for (const OpId op : operators) {
    const Place place = coarse.place_of(op);
    const ByteRange bytes{place.begin, place.begin + coarse.graph.op(op).memory_bytes};
    const auto [found, is_new] = known_.emplace(place.region, regions_.size());
    if (is_new) regions_.push_back(bytes);
    regions_[found->second] = hull(regions_[found->second], bytes);
  }
  Bytes next = 0;
  for (ByteRange& region : regions_) {
    if (!coarse.graph.batching()) region.begin = aligned_begin(region.begin);
    offsets_.push_back(next);
    next += aligned_size(region.size());
  }
}

Bytes OutputRegions::all_bytes() const {
  return regions_.empty() ? 0 : offsets_.back() + aligned_size(regions_.back().size());
}

OutputRegions::At OutputRegions::of(OpId op) const {
  const Place place = coarse_.place_of(op);
  const std::size_t region = known_.at(place.region);
  return {region, place.begin - regions_[region].begin};
}

Bytes OutputRegions::offset(OpId op) const {
  const At at = of(op);
  return offsets_[at.region] + at.begin;
}

}  // namespace hios
