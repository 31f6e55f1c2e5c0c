#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace hios {

/// An index that cannot be mistaken for another kind of index. `index()` addresses a vector.
template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::size_t index) : value_(static_cast<std::uint32_t>(index)) {}

  constexpr std::size_t index() const { return value_; }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  std::uint32_t value_ = 0;
};

using OpId = Id<struct OpTag>;          ///< an operator: a vertex of the Graph
using EdgeId = Id<struct EdgeTag>;      ///< a dependency: an edge of the Graph
using DeviceId = Id<struct DeviceTag>;  ///< a device of the Platform; rank r runs device r
using LayerId = Id<struct LayerTag>;    ///< a layer of the Model
using TensorId = Id<struct TensorTag>;  ///< a tensor of the Model
using Rank = Id<struct RankTag>;        ///< a process of the job
/// A stream of one device; group g of a stage runs on stream g.
using StreamIndex = Id<struct StreamTag>;

using Bytes = std::uint64_t;

}  // namespace hios

template <class Tag>
struct std::hash<hios::Id<Tag>> {
  std::size_t operator()(hios::Id<Tag> id) const noexcept { return id.index(); }
};
