#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "hios/graph.h"
#include "hios/platform.h"
#include "hios/profile.h"
#include "hios/schedule.h"

namespace hios {

/// The cost of a stage, and whether somebody measured it. A stage of one operator is as measured as
/// its operator; a stage of one group costs the sum of its operators unless it was measured.
struct StageCost {
  double ms = 0;
  bool measured = true;
};

/// What a scheduler may ask. Answers come from the graph's own costs or from a profile; nothing is
/// fitted. All queries are const and thread-safe; the model refers to graph, platform and profile,
/// which must outlive it.
class CostModel {
 public:
  /// From the graph's own costs. Throws InputError where an operator has no time, or an edge
  /// neither `transfer_ms` nor a link (only where the platform has two devices or more).
  static CostModel from_graph(const Graph& graph, const Platform& platform);

  /// From a profile. Throws InputError that lists what is missing (the configuration; signatures;
  /// transfers) and the `hios-profile` command that measures it.
  static CostModel from_profile(const Graph& graph, const Platform& platform,
                                const Profile& profile);

  /// Alone, on all cores of the device. Infinity where the device cannot run it.
  double operator_ms(OpId op, DeviceId device) const {
    return operator_ms_[device.index() * operators_ + op.index()];
  }
  bool can_run(OpId op, DeviceId device) const;

  /// REQUIRES: the groups are non-empty and the device can run all.
  StageCost stage(const Stage& stage, DeviceId device) const;
  double stage_ms(const Stage& s, DeviceId device) const { return stage(s, device).ms; }

  /// 0 on one device.
  double transfer_ms(EdgeId edge, DeviceId from, DeviceId to) const;

  /// A device-independent view for priorities: the mean over the devices that can run it, and the
  /// mean over ordered pairs of different devices (0 with one device).
  double mean_operator_ms(OpId op) const { return mean_operator_ms_[op.index()]; }
  double mean_transfer_ms(EdgeId edge) const { return mean_transfer_ms_[edge.index()]; }

  /// Called for each stage of two groups or more whose cost is asked and was not measured: how the
  /// profiler learns what to measure. Not called concurrently by us; may be empty.
  void on_unmeasured(std::function<void(const Stage&, DeviceId)> callback) {
    on_unmeasured_ = std::move(callback);
  }

  /// For lower bounds: the measured stages of two operators or more that `graph` can form on this
  /// device's configuration (nullptr when costs come from the graph).
  const Configuration* configuration(DeviceId device) const {
    return configurations_[device.index()];
  }
  const Graph& graph() const { return *graph_; }
  const Platform& platform() const { return *platform_; }

 private:
  CostModel(const Graph& graph, const Platform& platform);
  void fill_means();
  StageCost estimated(const Stage& stage, DeviceId device) const;

  const Graph* graph_;
  const Platform* platform_;
  std::size_t operators_ = 0;
  std::vector<double> operator_ms_;                   // device × operator
  std::vector<const Configuration*> configurations_;  // by device
  std::vector<double> mean_operator_ms_, mean_transfer_ms_;
  std::vector<double> transfer_ms_;  // edge, where it is the same for all pairs
  bool uniform_transfers_ = false;
  std::function<void(const Stage&, DeviceId)> on_unmeasured_;
};

/// The groups of a stage as signatures, canonical.
StageKey stage_key(const Graph& graph, const Stage& stage);

}  // namespace hios
