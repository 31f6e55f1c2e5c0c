#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "hios/schedule/schedule.h"
#include "scheduler/best/state/search_problem.h"

namespace hios::scheduler::best {

/// Divides the operators of a stage into groups and computes the stage's cost. To the rest of the
/// search a stage is a set of operators without groups and streams. Each thread needs its own
/// object: it has scratch memory and, with a profile, the stages seen so far.
class StageCosts {
 public:
  /// The most operators of a stage in the search.
  static constexpr std::size_t kMaxOperators = 32;

  explicit StageCosts(const SearchProblem& problem);

  /// Returns the cost in ms with the groups of stage(), equal to CostModel::stage_ms up to
  /// rounding. REQUIRES: not empty, the device can run all, no path between two of them leaves the
  /// set.
  double cost_ms(std::span<const OpId> operators, DeviceId device);
  Stage stage(std::span<const OpId> operators, DeviceId device);

  /// Returns true if a stage of several operators can cost less than its operators one after the
  /// other on this device. If not, such stages cannot shorten a schedule.
  bool sharing_pays(DeviceId device) const { return sharing_pays_[device.index()]; }

 private:
  struct Grouping {
    std::vector<std::uint32_t> group_of;  ///< by index of the operator
    double ms = 0;
  };
  struct SetHash {
    std::size_t operator()(const std::vector<std::uint32_t>& key) const;
  };

  double overlap_ms(std::span<const OpId> operators, DeviceId device);
  void find_components(std::span<const OpId> operators, DeviceId device);
  void pack_components(std::size_t streams);
  double longest_group_ms() const;
  const Grouping& measured(std::span<const OpId> operators, DeviceId device);
  void try_partitions(std::span<const OpId> operators, DeviceId device, std::size_t next,
                      std::size_t groups, Grouping& best);
  void try_groups(std::span<const OpId> operators, DeviceId device, Grouping& best);
  Stage assemble(std::span<const OpId> operators, std::span<const std::uint32_t> group_of) const;

  const SearchProblem& problem_;
  std::vector<bool> sharing_pays_;  // by device
  // Scratch of one stage: its components are its first groups.
  std::vector<std::uint32_t> mark_;   // by operator: index in the stage, if stamp_ is now_
  std::vector<std::uint64_t> stamp_;  // by operator
  std::uint64_t now_ = 0;
  std::vector<std::uint32_t> root_;       // by index: component
  std::vector<std::uint32_t> component_;  // by index, numbered from 0
  std::vector<std::uint32_t> group_;      // by component
  std::vector<double> length_ms_;         // by component
  std::vector<double> load_ms_;           // by group
  std::unordered_map<std::vector<std::uint32_t>, Grouping, SetHash> known_;  // with a profile
};

}  // namespace hios::scheduler::best
