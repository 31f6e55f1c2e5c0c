#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "hios/profile/profile.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// The cost of a stage, and whether it is known or an estimate. A stage of one group always costs
/// the sum of its operators and is as measured as they are; costs that a graph
/// brings are given, and so never estimates.
struct StageCost {
  double ms = 0;
  bool measured = true;
};

/// Whether the graph itself lets a device run an operator: `allowed`, where given, names the
/// device, and times by device, where there is none for all others, name it or its kind.
bool may_run(const Operator& op, const Device& device);

/// What a scheduler may ask. Answers come from the graph's own costs or from a profile; nothing is
/// fitted. All queries are const and thread-safe; the model refers to graph, platform and profile,
/// which must outlive it.
class CostModel {
 public:
  /// From the graph's own costs. Throws InputError where an operator has no time, or an edge
  /// between some pair of devices neither `transfer_ms` nor a link (or, by Routing::kWidest, a way
  /// over links).
  static CostModel from_graph(const Graph& graph, const Platform& platform);

  /// From a profile. On a device with fast memory and one stream operators have the times that they
  /// took warm, where the profile has them all: what fast memory does not hold costs beside them
  /// (hios/evaluate/blocks.h). Throws InputError that lists what is missing (the configuration;
  /// signatures; transfers) and needs a "measurement" (hios/profile/profile_gaps.h).
  static CostModel from_profile(const Graph& graph, const Platform& platform,
                                const Profile& profile);

  /// The same costs for some of the devices: no operator can run on the others, and means are over
  /// these alone. The platform stays, so that schedules are for all of it. Throws InputError where
  /// an operator can run on none of them.
  CostModel only(std::span<const DeviceId> devices) const;

  /// Alone, on all cores of the device. Infinity where the device cannot run it or may not.
  double operator_ms(OpId op, DeviceId device) const {
    return operator_ms_[device.index() * operators_ + op.index()];
  }
  bool can_run(OpId op, DeviceId device) const;

  /// The cost by the graph's `stage_cost` rule, or by the profile: what was measured for that
  /// multiset of groups; else, with more groups than min(streams, cores), those beyond queue:
  /// batches of that many groups in order, each by what was measured or serially; else the serial
  /// sum.
  ///
  /// REQUIRES: the groups are non-empty and the device can run all.
  StageCost stage(const Stage& stage, DeviceId device) const;
  double stage_ms(const Stage& s, DeviceId device) const { return stage(s, device).ms; }

  /// From the end of a tensor's producer until a stage elsewhere can start by it: link_ms(), and
  /// the launch there. 0 on one device.
  double transfer_ms(EdgeId edge, DeviceId from, DeviceId to) const {
    if (from == to) return 0;
    const TransferPrice& price = transfer_price_[edge.index()];
    if (!price.by_pair) return price.ms;
    const std::size_t devices = configurations_.size();
    return pair_ms_[(price.row * devices + from.index()) * devices + to.index()];
  }

  /// Of that, how long the tensor travels. REQUIRES: two devices.
  double link_ms(EdgeId edge, DeviceId from, DeviceId to) const {
    return transfer_ms(edge, from, to) - launch_ms(to);
  }
  /// What a device needs to begin an inference, or to go on once a tensor from elsewhere is there,
  /// while it has nothing else to do (Configuration::launch_ms). 0 with the graph's own costs.
  double launch_ms(DeviceId device) const { return launch_ms_[device.index()]; }
  /// Of any device: no inference ends sooner than that much behind what its operators take.
  double least_launch_ms() const;

  /// What the edge costs between any two devices, where that is the same for all.
  std::optional<double> transfer_ms(EdgeId edge) const {
    const TransferPrice& price = transfer_price_[edge.index()];
    return price.by_pair ? std::nullopt : std::optional(price.ms);
  }

  /// A device-independent view for priorities: the mean over the devices that can run it, and the
  /// mean over ordered pairs of different devices (0 with one device).
  double mean_operator_ms(OpId op) const { return mean_operator_ms_[op.index()]; }
  double mean_transfer_ms(EdgeId edge) const { return mean_transfer_ms_[edge.index()]; }
  /// The same of link_ms().
  double mean_link_ms(EdgeId edge) const { return mean_transfer_ms(edge) - mean_launch_ms_; }

  /// Called for each stage of two groups or more whose cost is asked and was not measured: how the
  /// profiler learns what to measure. Not called concurrently by us; may be empty.
  void on_unmeasured(std::function<void(const Stage&, DeviceId)> callback) {
    on_unmeasured_ = std::move(callback);
  }
  /// Whether somebody listens.
  bool reports_unmeasured() const { return static_cast<bool>(on_unmeasured_); }

  /// For lower bounds: the measured stages of two operators or more that `graph` can form on this
  /// device's configuration (nullptr when costs come from the graph).
  const Configuration* configuration(DeviceId device) const {
    return configurations_[device.index()];
  }
  const Graph& graph() const { return *graph_; }
  const Platform& platform() const { return *platform_; }

 private:
  struct MeasuredStages;
  /// What an edge costs between any two devices, or which row of pair_ms_ says so: edges of as many
  /// bytes share one, an edge with times by pair has its own.
  struct TransferPrice {
    bool by_pair = false;
    std::uint32_t row = 0;
    double ms = 0;
  };

  CostModel(const Graph& graph, const Platform& platform);
  void fill_transfers();
  void fill_means();
  const TransferCurve* curve(DeviceId from, DeviceId to) const;
  std::optional<double> pair_transfer_ms(Bytes size, DeviceId from, DeviceId to) const;
  void fill_row(const Edge& edge, std::vector<double>& row) const;
  [[noreturn]] void refuse_transfer(const Edge& edge, DeviceId from, DeviceId to) const;
  void number_signatures();
  double serial_ms(std::span<const Group> groups, DeviceId device) const;
  double rule_ms(const Stage& stage, DeviceId device) const;
  StageCost profiled(const Stage& stage, DeviceId device) const;
  std::optional<double> measured_ms(std::span<const Group> groups, DeviceId device) const;

  const Graph* graph_;
  const Platform* platform_;
  std::size_t operators_ = 0;
  std::vector<double> operator_ms_;                   // device × operator
  std::vector<const Configuration*> configurations_;  // by device
  std::vector<double> launch_ms_;                     // by device
  double mean_launch_ms_ = 0;                         // over ordered pairs, 0 with one device
  std::vector<double> mean_operator_ms_, mean_transfer_ms_;
  std::vector<TransferPrice> transfer_price_;                    // by edge
  std::vector<double> pair_ms_;                                  // row × from × to
  std::vector<std::uint32_t> signature_;                         // by operator, with a profile
  std::vector<std::shared_ptr<const MeasuredStages>> measured_;  // by device, with a profile
  std::string profile_file_;                                     // for messages
  std::function<void(const Stage&, DeviceId)> on_unmeasured_;
};

/// The groups of a stage as signatures, canonical.
StageKey stage_key(const Graph& graph, const Stage& stage);

}  // namespace hios
