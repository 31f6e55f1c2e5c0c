#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hios/base/ids.h"
#include "hios/platform/topology.h"

namespace hios {

/// Returns the latest time that counts as this one. Times are sums of other times, so that equal
/// ones may differ in their last digits; a billionth of a ms is far below any cost.
inline double same_time_ms(double ms) { return ms + 1e-9 + 1e-12 * ms; }

/// A flow ends when fewer bytes are left.
inline constexpr double kEndBytes = 1e-3;

/// Bytes under way over shared buses. A flow waits its latency, in which it uses nothing, and then
/// moves its bytes. At every moment the rates are max-min fair over the buses and the flows' own
/// limits: no flow can be faster without slowing one that is not faster. A flow ends when less than
/// a thousandth of a byte is left. One thread at a time.
class Flows {
 public:
  using FlowId = std::size_t;

  struct Flow {
    std::span<const BusId> over = {};  ///< outlives the flow; each bus once
    double latency_ms = 0;
    double gb_per_s = std::numeric_limits<double>::infinity();  ///< its own limit
    double bytes = 0;
  };

  explicit Flows(std::span<const Bus> buses);

  /// Starts a flow now. A flow without bytes ends after its latency. Returns its number, which
  /// counts up from 0.
  FlowId start(const Flow& flow);
  /// Changes the own limit of a flow that has not ended.
  void limit(FlowId flow, double gb_per_s);
  double now_ms() const { return now_ms_; }
  bool empty() const { return by_most_.empty() && waiting_.empty(); }
  /// Returns the time at which the next flow ends, or has waited its latency and changes the rates
  /// of others; infinity where none is under way.
  double next_change_ms();
  /// Returns the rate of a flow now: 0 while it waits its latency, and where it has ended.
  double gb_per_s(FlowId flow);
  /// Lets time pass until `ms`, and returns the flows that ended, ascending. REQUIRES: now ≤ ms ≤
  /// next_change_ms().
  std::vector<FlowId> advance(double ms);

 private:
  /// A flow under way. Its bytes are counted when its rate changes, and not meanwhile.
  struct UnderWay {
    FlowId id = 0;
    std::span<const BusId> over;
    double begins_ms = 0;  ///< the end of its latency
    double most = 0;       ///< bytes per ms, with all its buses to itself
    double left = 0;       ///< bytes at since_ms
    double since_ms = 0;
    double rate = 0;  ///< bytes per ms since then
    double ends_ms = 0;
    bool changes = false;  ///< its rate is being determined
    bool shared = false;   ///< its rate is determined
  };
  /// A bus and the flows that move bytes over it.
  struct Used {
    double capacity = 0;               ///< bytes per ms
    std::vector<std::uint32_t> flows;  ///< indices of slots_
    double ended = 0;                  ///< the sum of `most` of flows that ended since share()
    bool visited = false;              ///< by the present share()
    double free = 0;                   ///< capacity that share() has not given away
    std::size_t open = 0;              ///< flows whose rates share() has yet to determine
  };

  double most_of(std::span<const BusId> over, double gb_per_s) const;
  void insert_by_most(std::uint32_t slot);
  bool has_ended(const UnderWay& flow, double ms) const;
  void begin(std::uint32_t slot);
  void end(std::uint32_t slot);
  void share();
  void touch(std::uint32_t slot);
  void visit(BusId bus);
  void fill();
  void determine(std::uint32_t slot, double rate);

  std::vector<Used> buses_;  // by BusId
  std::vector<UnderWay> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<std::uint32_t> waiting_;  // for the end of their latency
  std::vector<std::uint32_t> by_most_;  // flows that move bytes, by UnderWay::most
  std::vector<std::uint32_t> touched_;  // flows whose rates may change, in share()
  std::vector<BusId> ended_over_;       // buses of flows that ended since share()
  std::vector<BusId> contested_;        // buses that flows contend for, in share()
  bool changed_ = false;
  FlowId next_id_ = 0;
  double now_ms_ = 0;
};

}  // namespace hios
