#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hios/evaluate/cold/holdings.h"
#include "hios/graph/arcs.h"
#include "hios/platform/platform.h"

namespace hios {

/// The waits between stages and loads that hold whatever they take: stages in their order and for
/// their inputs and parameters, loads in their lanes and for their sources. Nodes are stages by
/// number (Assignment::stage_number), loads by number (Holdings), and the end of all lanes. Refers
/// to its arguments, which outlive it.
class WeightWaits {
 public:
  using Arc = std::pair<std::size_t, std::size_t>;  ///< a node, and one that waits for it
  static constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

  WeightWaits(const Graph& graph, const Schedule& schedule, const Assignment& assignment,
              const Holdings& holdings, std::span<const Arc> more = {});

  std::size_t stage_node(DeviceId device, std::size_t stage) const {
    return assignment_.stage_number(device, stage);
  }
  std::size_t load_node(std::size_t load) const { return assignment_.stage_count() + load; }

  /// Returns cycles, one for each component of nodes that wait for each other: each node before the
  /// one that it waits for.
  std::vector<std::vector<std::size_t>> cycles() const;
  /// Returns by node the first stage of a device that is the node or waits for it, directly or not;
  /// kNever: none does. REQUIRES: no cycle.
  std::vector<std::size_t> first_stages(DeviceId device) const;

  /// Returns the load of a node; nothing where it is none.
  std::optional<std::size_t> load_of(std::size_t node) const;
  /// Returns the words of a cycle: "the load of a … comes after …, which needs …".
  std::string describe(const std::vector<std::size_t>& cycle, const Graph& graph,
                       const Platform& platform) const;

 private:
  struct At {
    DeviceId device;
    std::size_t stage = 0;
  };
  std::size_t end_of_lanes() const { return load_node(holdings_.loads().size()); }
  void list_stages(const Graph& graph);
  void list_loads();
  std::string name_of(std::size_t node, const Graph& graph, const Platform& platform) const;
  std::string waits_for(std::size_t later, std::size_t earlier) const;

  const Schedule& schedule_;
  const Assignment& assignment_;
  const Holdings& holdings_;
  std::vector<At> stages_;  // by node
  std::vector<Arc> list_;
  Arcs arcs_;
  std::vector<std::size_t> component_;  // by node
};

/// Returns "the load of c3 from dram to gpu1 (lane 1, index 3)".
std::string describe_load(const Graph& graph, const Platform& platform,
                          const Holdings::Listed& load);
/// Returns the name of a store or a device; "device 7" and the like where there is none.
std::string name_of_holder(const Platform& platform, const Holder& holder);

}  // namespace hios
