#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "hios/profile/profile.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// The cost of a stage. A stage of one group always costs the sum of its operators and counts as
/// measured; costs in a graph file are given, and so never estimates.
struct StageCost {
  double ms = 0;
  bool measured = true;  ///< false: an estimate
};

/// Returns true if the graph lets a device run an operator: `allowed`, where given, names the
/// device, and times by device, where there is none for all others, name it or its kind.
bool may_run(const Operator& op, const Device& device);

/// How tensors travel between ranks that can share memory, where a profile has both.
enum class Travel {
  kShared,  ///< in memory that both ranks share: one inference at a time
  kCopied   ///< from the memory of one rank to that of the other: many inferences in flight
};

/// The costs that a scheduler may query, from the graph's own costs or from a profile; nothing is
/// fitted. All queries are const and thread-safe. The model refers to graph, platform and profile,
/// which must outlive it. Sources: cost_model.cpp, and cost_model_transfers.cpp for the costs of
/// tensors between devices.
class CostModel {
 public:
  /// Takes the graph's own costs. Throws InputError where an operator has no time, or an edge
  /// between some pair of devices neither `transfer_ms` nor a link (or, by Routing::kWidest, a path
  /// of links; or, with a topology, a route, which costs what a flow takes there alone).
  static CostModel from_graph(const Graph& graph, const Platform& platform);

  /// Takes the costs of a profile, but for transfers where the platform has a topology, whose
  /// routes price them. On a device with fast memory and one stream, operators have their warm
  /// times, where the profile has them all: bytes that fast memory does not hold cost extra
  /// (hios/evaluate/blocks.h). Throws an InputError that lists the missing entries (configuration,
  /// signatures, transfers), with a need::Measurement (hios/profile/profile_gaps.h).
  static CostModel from_profile(const Graph& graph, const Platform& platform,
                                const Profile& profile, Travel travel = Travel::kShared);

  /// Returns the same costs for a subset of the devices: no operator can run on the others, and
  /// means are over the subset. The platform stays, so that schedules are for all of it. Throws
  /// InputError where an operator can run on none of them.
  CostModel only(std::span<const DeviceId> devices) const;
  /// Returns the same costs on another platform, which must outlive them. REQUIRES: it differs from
  /// this one in the memory of its devices alone.
  CostModel on(const Platform& platform) const;

  /// Returns the time alone, on all cores of the device. Infinity where the device cannot or may
  /// not run it.
  double operator_ms(OpId op, DeviceId device) const {
    return operator_ms_[device.index() * operators_ + op.index()];
  }
  bool can_run(OpId op, DeviceId device) const;

  /// Returns the cost by the graph's `stage_cost` rule, or by the profile: the measured time of
  /// that multiset of groups. Without one, more groups than min(streams, cores) run as batches of
  /// that many groups in order, each with its measured time or the serial sum; otherwise the cost
  /// is the serial sum. REQUIRES: the groups are non-empty and the device can run all.
  StageCost stage(const Stage& stage, DeviceId device) const;
  double stage_ms(const Stage& s, DeviceId device) const { return stage(s, device).ms; }

  /// Returns the time from the end of a tensor's producer until a stage on another device can
  /// start: link_ms() and the launch there. 0 on one device.
  double transfer_ms(EdgeId edge, DeviceId from, DeviceId to) const {
    if (from == to) return 0;
    const TransferCost& cost = transfer_cost_[edge.index()];
    if (!cost.by_pair) return cost.ms;
    if (row_ms_.empty()) return pair_ms(edge, from, to);
    return row_ms_[cost.row * pair_price_.size() + pair_class(from, to)];
  }

  /// Returns the time that the tensor travels, without the launch. REQUIRES: two devices.
  double link_ms(EdgeId edge, DeviceId from, DeviceId to) const {
    return transfer_ms(edge, from, to) - launch_ms(to);
  }
  /// Returns the receiver's own time for a tensor, during which it computes nothing: a share of
  /// link_ms(), by the platform (IoCharge::receive), or else by the profile. Without either it is
  /// 0, as with contention. REQUIRES: two devices.
  double receive_ms(EdgeId edge, DeviceId from, DeviceId to) const {
    return copy_ms(link_ms(edge, from, to), from, to);
  }
  /// Returns receive_ms() of a message that travels for so long.
  double copy_ms(double link_ms, DeviceId from, DeviceId to) const {
    const double share = receive_share(from, to);
    return share > 0 ? share * link_ms : 0;
  }
  /// Returns receive_ms() as a share of link_ms(): all of it where the two devices share memory,
  /// unless the platform says otherwise. REQUIRES: two devices.
  double receive_share(DeviceId from, DeviceId to) const {
    const double share = receive_share_[to.index()];
    return shares_memory_ && pair_price_[pair_class(from, to)].shared ? shared_share_[to.index()]
                                                                      : share;
  }
  /// Returns true if receiving costs both devices the same, from any device that has the same
  /// link_ms() to both.
  bool receive_alike(DeviceId a, DeviceId b) const {
    return receive_share_[a.index()] == receive_share_[b.index()] &&
           (!shares_memory_ || shared_share_[a.index()] == shared_share_[b.index()]);
  }
  /// Returns true if receiving takes the time of any device.
  bool charges_receivers() const { return charges_receivers_; }

  /// Returns true if operators read different ranges (Edge::range) of the producer's output, whose
  /// bytes decide the time. One message has the bytes from the first to the last that are read on
  /// a device, and every operator there waits for all of it: for message_ms(), which is not below
  /// transfer_ms() of any edge.
  bool sends_ranges(OpId producer) const {
    return !sends_ranges_.empty() && sends_ranges_[producer.index()];
  }
  bool sends_ranges() const { return !sends_ranges_.empty(); }
  /// Returns transfer_ms() of so many bytes, computed for each call. REQUIRES: sends_ranges(); two
  /// devices.
  double message_ms(Bytes size, DeviceId from, DeviceId to) const;
  /// Returns true if a tensor's arrival depends on more than its producer's end and transfer_ms():
  /// on other messages of the link (contention), on other consumers (ranges), or on the receiver.
  bool messages_matter() const {
    return platform_->contention() != Contention::kNone || charges_receivers() || sends_ranges();
  }
  /// Returns the edge's own `transfer_ms` for the pair, without the launch; nothing where its bytes
  /// decide. REQUIRES: two devices.
  std::optional<double> own_transfer_ms(EdgeId edge, DeviceId from, DeviceId to) const;
  /// Returns the time that an idle device needs to begin an inference, or to continue once a tensor
  /// from another device is there (Configuration::launch). 0 with the graph's own costs.
  double launch_ms(DeviceId device) const { return launch_ms_[device.index()]; }
  /// Returns the smallest launch of any device: every inference takes at least that much longer
  /// than its operators.
  double least_launch_ms() const;

  /// Returns the cost of the edge between any two devices, where it is the same for all.
  std::optional<double> transfer_ms(EdgeId edge) const {
    const TransferCost& cost = transfer_cost_[edge.index()];
    return cost.by_pair ? std::nullopt : std::optional(cost.ms);
  }

  /// Return device-independent costs for priorities: the mean over the devices that can run the
  /// operator, and the mean over ordered pairs of different devices (0 with one device).
  double mean_operator_ms(OpId op) const { return mean_operator_ms_[op.index()]; }
  double mean_transfer_ms(EdgeId edge) const { return mean_transfer_ms_[edge.index()]; }
  /// Returns the mean of link_ms() over those pairs.
  double mean_link_ms(EdgeId edge) const { return mean_transfer_ms(edge) - mean_launch_ms_; }

  /// Returns the number of the device's class: devices of one class exchange tensors with all
  /// others, and with each other, at the same costs. 0 on a platform of one device.
  std::uint32_t exchange_class(DeviceId device) const {
    return device_class_.empty() ? 0 : device_class_[device.index()];
  }

  /// Sets a callback for each query of a stage of two groups or more that was not measured, by
  /// which the profiler learns what to measure. Never called concurrently by schedulers; may be
  /// empty.
  void on_unmeasured(std::function<void(const Stage&, DeviceId)> callback) {
    on_unmeasured_ = std::move(callback);
  }
  /// Returns true if there is a callback.
  bool reports_unmeasured() const { return static_cast<bool>(on_unmeasured_); }

  /// Returns the profile's configuration for the device, whose measured stages lower bounds use;
  /// nullptr where costs come from the graph.
  const Configuration* configuration(DeviceId device) const {
    return configurations_[device.index()];
  }
  /// Returns how tensors travel where a profile knows both ways.
  Travel travel() const { return travel_; }
  const Graph& graph() const { return *graph_; }
  const Platform& platform() const { return *platform_; }

 private:
  struct MeasuredStages;
  /// The price of bytes between two classes of devices. None: there is no way between them.
  struct PairPrice {
    const TransferCurve* curve = nullptr;
    std::optional<Link> link = {};
    bool shared = false;  ///< by the curve of memory that both devices share
    bool operator==(const PairPrice&) const = default;
    std::optional<double> transfer_ms(Bytes size) const;
  };
  /// The cost of an edge between any two devices, or its row of row_ms_. Edges of equal costs share
  /// a row.
  struct TransferCost {
    bool by_pair = false;
    std::uint32_t row = 0;
    double ms = 0;
  };

  CostModel(const Graph& graph, const Platform& platform);
  void fill_transfers();
  void fill_charges();
  void find_ranges();
  void find_shared_memory();
  void fill_means();
  const TransferCurve* curve(DeviceId from, DeviceId to) const;
  PairPrice price(DeviceId from, DeviceId to) const;
  std::size_t pair_class(DeviceId from, DeviceId to) const {
    return device_class_[from.index()] * class_members_.size() + device_class_[to.index()];
  }
  void classify_devices();
  bool exchange_alike(DeviceId a, DeviceId b) const;
  double pair_ms(EdgeId edge, DeviceId from, DeviceId to) const;
  std::optional<double> edge_ms(const Edge& edge, DeviceId from, DeviceId to) const;
  void fill_row(const Edge& edge, std::vector<double>& row) const;
  double sum_of_pairs(std::span<const double> row) const;
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
  Travel travel_ = Travel::kCopied;
  bool shares_memory_ = false;         // some pair of devices does
  std::vector<double> receive_share_;  // by device
  std::vector<double> shared_share_;   // by device: of tensors in shared memory
  bool charges_receivers_ = false;
  std::vector<bool> sends_ranges_;  // by operator; empty: none does
  double mean_launch_ms_ = 0;       // over ordered pairs, 0 with one device
  std::vector<double> mean_operator_ms_, mean_transfer_ms_;
  std::vector<TransferCost> transfer_cost_;  // by edge
  std::vector<std::uint32_t> device_class_;  // by device: equal transfers to and from all others
  std::vector<std::vector<DeviceId>> class_members_;  // by class
  std::vector<PairPrice> pair_price_;                 // class × class
  /// Row × class × class; empty where that would be too much, so that costs are computed for each
  /// query.
  std::vector<double> row_ms_;
  std::size_t rows_ = 0;
  std::vector<std::uint32_t> signature_;                         // by operator, with a profile
  std::vector<std::shared_ptr<const MeasuredStages>> measured_;  // by device, with a profile
  std::string profile_file_;                                     // for messages
  std::function<void(const Stage&, DeviceId)> on_unmeasured_;
};

/// Returns the groups of a stage as signatures, canonical.
StageKey stage_key(const Graph& graph, const Stage& stage);

}  // namespace hios
