#pragma once

#include <tuple>
#include <vector>

#include "hios/base/ids.h"
#include "hios/platform/topology.h"

/// The part of a schedule for cold starts: when which parameters travel, and over which routes. At
/// its beginning no device holds parameters, except resident ones (Namkoong et al., "SortingHat",
/// sections 3.2 and 3.3).
namespace hios {

/// A load of an operator's parameters. Where operators share them, it serves all.
struct Load {
  OpId of;
  Holder from;  ///< a store; or a device, which must hold them first
  DeviceId to;
  bool operator==(const Load&) const = default;
};

/// An operator that reads its parameters where a store keeps them, while it runs. It is alone in
/// its stage.
struct ReadInPlace {
  OpId of;
  StoreId from;
  bool operator==(const ReadInPlace&) const = default;
};

/// Frees an operator's parameters on a device when the stage of another operator there has ended.
struct Eviction {
  OpId of;
  DeviceId from;
  OpId after;
  bool operator==(const Eviction&) const = default;
};

/// Parameters that a device holds from the beginning.
struct Resident {
  OpId of;
  DeviceId on;
  bool operator==(const Resident&) const = default;
};

/// Loads by lane. A lane loads in order, one at a time; lanes run side by side.
using Lane = std::vector<Load>;

struct Weights {
  std::vector<Lane> lanes = {};
  std::vector<ReadInPlace> in_place = {};
  std::vector<Eviction> evictions = {};
  std::vector<Resident> resident = {};
  bool load_first = false;  ///< no stage starts before all lanes have ended
  bool operator==(const Weights&) const = default;
};

}  // namespace hios
