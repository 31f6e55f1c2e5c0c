#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "hios/schedule/schedule.h"

/// Small problems of cold starts.
namespace hios::test {

inline constexpr StoreId kMain(0), kDisk(1);

/// Two devices; the main memory reaches both, the disk only the first, and they reach each other.
inline Platform two_gpus(Bytes memory_bytes = 0) {
  std::vector<Device> devices(2);
  for (std::size_t d = 0; d < 2; ++d) {
    devices[d].name = "gpu" + std::to_string(d);
    devices[d].kind = "gpu";
    devices[d].streams = 2;
    devices[d].memory_bytes = memory_bytes;
  }
  return Platform(devices, {{"main", "", StoreKind::kMemory}, {"disk", "", StoreKind::kDisk}},
                  {{"pcie", 10}},
                  {{kMain, DeviceId(0), {BusId(0)}, 0, 10},
                   {kMain, DeviceId(1), {BusId(0)}, 0, 10},
                   {kDisk, DeviceId(0), {}, 0, 1},
                   {DeviceId(0), DeviceId(1), {}, 0, 20},
                   {DeviceId(1), DeviceId(0), {}, 0, 20}});
}

/// Operators v1, v2, … with this many bytes of parameters, each read in place in 5 ms.
inline Graph with_parameters(std::initializer_list<Bytes> bytes,
                             std::initializer_list<std::pair<OpId, OpId>> edges = {}) {
  std::vector<Operator> operators;
  for (const Bytes size : bytes) {
    Operator op;
    op.name = "v" + std::to_string(operators.size() + 1);
    op.parameter_bytes = size;
    op.in_place_ms = 5;
    operators.push_back(op);
  }
  std::vector<Edge> list;
  for (const auto& [from, to] : edges) list.push_back({.from = from, .to = to, .transfer_ms = {}});
  return Graph("cold", std::move(operators), std::move(list));
}

/// Returns a schedule of these stages by device.
inline Schedule cold(std::vector<std::vector<Stage>> devices, Weights weights) {
  return {.devices = std::move(devices), .transfers = {}, .weights = std::move(weights)};
}

}  // namespace hios::test
