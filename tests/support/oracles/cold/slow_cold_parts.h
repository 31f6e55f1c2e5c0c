#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "hios/evaluate/timeline.h"
#include "hios/platform/topology.h"
#include "support/oracles/cold/plain_max_min.h"

/// The state of the slow simulator, and how loads and stages of one device slow each other.
namespace hios::test {

/// Bytes on the way, and what their arrival means.
struct Moving {
  enum class For { kLoad, kMessage, kStage } what = For::kLoad;
  std::size_t a = 0, b = 0;  // a lane; a message; a device and its stage
  PlainFlow flow = {};
  double begins = 0, left = 0;
  const Route* route = nullptr;
};

struct SlowStage {
  enum class Is { kWaiting, kStarted, kReading, kOver } is = Is::kWaiting;
  StageTimes times;
};

struct SlowMessage {
  OpId producer;
  DeviceId from, to;
  std::optional<double> sent, arrived;
};

/// Returns bytes that start over the route between these ends at `now`.
inline Moving over_route(const Topology& topology, double now, const Holder& from, DeviceId to,
                         double bytes) {
  Moving moving{};
  for (const Route& route : topology.routes()) {
    if (route.from != from || route.to != to) continue;
    for (const BusId bus : route.over) moving.flow.over.push_back(bus.index());
    moving.flow.limit = route.gb_per_s * 1e6;
    moving.begins = now + route.latency_ms;
    moving.route = &route;
  }
  moving.left = bytes;
  return moving;
}

/// Returns the read in place that begins now and takes `ms` when undisturbed, or longer where its
/// route does.
inline Moving lasting(Moving read, double now, double ms) {
  const double latency = read.begins - now;
  if (read.left == 0) {
    read.begins = now + std::max(latency, ms);
  } else if (ms > latency) {
    read.flow.limit = std::min(read.flow.limit, read.left / (ms - latency));
  }
  read.what = Moving::For::kStage;
  return read;
}

/// Returns when a device that is free from then on has copied these, each an arrival and its copy:
/// one after the other, none done before it is there.
inline double after_copies(std::vector<std::pair<double, double>> copies, double free_ms) {
  std::ranges::sort(copies);
  for (const auto& [arrival_ms, ms] : copies) {
    if (ms > 0) free_ms = std::max(arrival_ms, free_ms + ms);
  }
  return free_ms;
}

/// Returns how many times as long a device's stages take, by the loads to it.
inline double pace_of(DeviceId device, const std::vector<Moving>& all) {
  double pace = 1;
  for (const Moving& moving : all) {
    const bool load = moving.what == Moving::For::kLoad;
    if (load && moving.route->to == device) pace += moving.route->slowdown - 1;
  }
  return pace;
}

/// Returns the flow with the limit that it has now. `stages`: by device.
inline PlainFlow slowed_flow(const Moving& moving, const std::vector<Moving>& all,
                             const std::vector<std::vector<SlowStage>>& stages) {
  PlainFlow flow = moving.flow;
  if (moving.what == Moving::For::kStage) flow.limit /= pace_of(DeviceId(moving.a), all);
  if (moving.what != Moving::For::kLoad) return flow;
  const auto runs = [](const SlowStage& stage) {
    return stage.is == SlowStage::Is::kStarted || stage.is == SlowStage::Is::kReading;
  };
  if (std::ranges::none_of(stages[moving.route->to.index()], runs)) return flow;
  double divisor = 1;
  for (const Moving& other : all) {
    const bool load = other.what == Moving::For::kLoad;
    if (load && other.route->to == moving.route->to) divisor += other.route->load_slowdown - 1;
  }
  flow.limit /= divisor;
  return flow;
}

}  // namespace hios::test
