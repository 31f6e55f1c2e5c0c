#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "hios/graph/fusion/coarsen.h"

namespace hios {

/// The memory of some operators' outputs, none of which shares bytes with another. Outputs that lie
/// in one region (CoarseGraph::place_of) are at the distances that they have there, so that a
/// reader of several reads them as one.
class OutputRegions {
 public:
  OutputRegions(const CoarseGraph& coarse, std::span<const OpId> operators);

  std::size_t count() const { return regions_.size(); }
  /// Returns the bytes from the first to the last that an operator writes in a region, by the
  /// number that the region has here, from 0.
  Bytes size_bytes(std::size_t region) const { return regions_[region].size(); }
  /// Returns the sum over all regions, each in whole cache lines.
  Bytes all_bytes() const;

  /// An operator's output: bytes of a region that begin there.
  struct At {
    std::size_t region = 0;
    Bytes begin = 0;
  };
  /// Returns the output of an operator. REQUIRES: one of `operators`.
  At of(OpId op) const;
  /// Returns the same in one stretch of all_bytes() in which the regions follow one another, each
  /// from a cache line on.
  Bytes offset(OpId op) const;

 private:
  const CoarseGraph& coarse_;
  std::vector<ByteRange> regions_;            // in order of their first operators
  std::vector<Bytes> offsets_;                // by region
  std::map<std::size_t, std::size_t> known_;  // by Place::region
};

}  // namespace hios
