#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hios/base/ids.h"
#include "hios/base/numbers/precision.h"
#include "hios/graph/byte_range.h"
#include "hios/model/model.h"

/// Tensors that lie in one another, so that nothing is copied where rows are taken from a tensor or
/// joined to one: a region of memory has several writers, and readers of any part of it.
namespace hios {

/// Where a tensor lies: from this byte of a region. Regions are numbered, with gaps.
struct Place {
  std::size_t region = 0;
  Bytes begin = 0;
};

/// The places of a model's tensors. Immutable.
class Places {
 public:
  /// Every tensor is a region of its own.
  Places() = default;
  /// Lets the tensors that a cut model's moves and joins of rows produce lie in what these read, or
  /// around it. `alone`: layers that no other is fused with. A layer stays one that copies where a
  /// byte would have two writers, where it produces an output of the model, where its tensor would
  /// be at two places, and where a tensor would not begin at a multiple of 64 bytes of its region.
  /// REQUIRES: model.whole(): only layers without an origin are moves and joins of rows.
  Places(const Model& model, Bytes element_bytes, const std::vector<bool>& alone);

  bool empty() const { return of_.empty(); }
  /// Returns true for a layer that copies nothing.
  bool is_view(LayerId id) const { return !views_.empty() && views_[id.index()]; }
  Place of(TensorId id) const { return empty() ? Place{id.index(), 0} : of_[id.index()]; }

 private:
  std::vector<bool> views_;  ///< by LayerId
  std::vector<Place> of_;    ///< by TensorId
};

}  // namespace hios
