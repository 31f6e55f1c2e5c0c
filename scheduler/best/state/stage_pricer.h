#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "hios/schedule/schedule.h"
#include "scheduler/best/state/search_problem.h"

namespace hios::scheduler::best {

/// Divides the operators of a stage into groups and says what the stage costs. To the search a
/// stage is a set of operators: this is the one place that knows of groups and streams. One pricer
/// a thread: it keeps scratch and, with a profile, the stages that it has priced.
class StagePricer {
 public:
  /// The most operators that the search puts into a stage.
  static constexpr std::size_t kMostOperators = 32;

  explicit StagePricer(const SearchProblem& problem);

  /// The cost in ms with the groups of stage(), as CostModel::stage up to rounding.
  /// REQUIRES: not empty, the device can run all, no path between two of them leaves the set.
  double price(std::span<const OpId> operators, DeviceId device);
  Stage stage(std::span<const OpId> operators, DeviceId device);

  /// Whether a stage of several operators can cost less than its operators one after the other on
  /// this device. Where not, such stages cannot shorten a schedule.
  bool sharing_pays(DeviceId device) const { return sharing_pays_[device.index()]; }

 private:
  struct Grouping {
    std::vector<std::uint32_t> group_of;  ///< by place among the operators
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
  // Scratch of the stage that is priced: its components are its first groups.
  std::vector<std::uint32_t> mark_;   // by operator: place in the stage, where stamp_ says so
  std::vector<std::uint64_t> stamp_;  // by operator
  std::uint64_t now_ = 0;
  std::vector<std::uint32_t> root_;       // by place: component
  std::vector<std::uint32_t> component_;  // by place, numbered from 0
  std::vector<std::uint32_t> group_;      // by component
  std::vector<double> length_ms_;         // by component
  std::vector<double> load_ms_;           // by group
  std::unordered_map<std::vector<std::uint32_t>, Grouping, SetHash> known_;  // with a profile
};

}  // namespace hios::scheduler::best
