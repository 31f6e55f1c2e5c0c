#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "hios/evaluate/simulate.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"

/// Cold starts whose times one can work out by hand: megabytes over buses of whole GB/s.
namespace hios::test {

inline constexpr Bytes kMegabyte = 1000000;  ///< takes 1 ms at 1 GB/s
inline constexpr StoreId dram(0);

using ColdEdit = std::function<void(std::vector<Operator>&, std::vector<Edge>&)>;

/// Returns a graph of operators v1, v2, … with these times and megabytes of parameters. Edges have
/// a megabyte, and no time of their own.
inline Graph cold_graph(std::initializer_list<std::pair<double, Bytes>> times_and_megabytes,
                        std::initializer_list<std::pair<std::size_t, std::size_t>> edges,
                        const ColdEdit& edit = {}) {
  std::vector<Operator> operators;
  for (const auto& [ms, megabytes] : times_and_megabytes) {
    Operator& op = operators.emplace_back();
    op.name = std::string("v").append(std::to_string(operators.size()));
    op.time_ms = ms;
    op.has_time = true;
    op.parameter_bytes = megabytes * kMegabyte;
  }
  std::vector<Edge> list;
  for (const auto& [from, to] : edges) {
    list.push_back({OpId(from - 1), OpId(to - 1), kMegabyte, {}});
  }
  if (edit) edit(operators, list);
  return Graph("cold", std::move(operators), std::move(list));
}

/// Returns devices of a store, buses of these speeds, and routes; the routes' own limit is high.
inline Platform cold_server(std::size_t count, std::initializer_list<double> buses,
                            std::vector<Route> routes, Bytes memory_bytes = 0) {
  const Platform alike = devices(count, 2);
  std::vector<Device> list(alike.devices().begin(), alike.devices().end());
  for (Device& device : list) device.memory_bytes = memory_bytes;
  std::vector<Bus> named;
  for (const double speed : buses) named.push_back({"b" + std::to_string(named.size()), speed});
  for (Route& route : routes) {
    if (route.gb_per_s == 0) route.gb_per_s = 1000;
  }
  return Platform(std::move(list), {{"dram", "", StoreKind::kMemory}}, std::move(named),
                  std::move(routes));
}

/// Returns a device whose route from the store is one bus of 1 GB/s.
inline Platform one_bus_device(Bytes memory_megabytes = 0) {
  return cold_server(1, {1}, {{dram, d0, {BusId(0)}}}, memory_megabytes * kMegabyte);
}

/// Returns the schedule of one device with a stage for each operator.
inline Schedule in_order(const Graph& graph, Weights weights) {
  Schedule schedule;
  auto& stages = schedule.devices.emplace_back();
  for (std::size_t v = 0; v < graph.size(); ++v) stages.push_back({{{OpId(v)}}});
  schedule.weights = std::move(weights);
  return schedule;
}

inline Timeline simulated(const Graph& graph, const Platform& platform, const Schedule& schedule) {
  return simulate(graph, schedule, CostModel::from_graph(graph, platform));
}

inline void expect_load(const Timeline& timeline, std::size_t number, double start_ms,
                        double end_ms) {
  ASSERT_LT(number, timeline.loads.size());
  EXPECT_DOUBLE_EQ(timeline.loads[number].start_ms, start_ms) << "load " << number;
  EXPECT_DOUBLE_EQ(timeline.loads[number].end_ms, end_ms) << "load " << number;
}

inline void expect_stage(const Timeline& timeline, DeviceId device, std::size_t number,
                         double start_ms, double end_ms) {
  const StageTimes& times = timeline.stages[device.index()][number];
  EXPECT_DOUBLE_EQ(times.start_ms, start_ms) << "stage " << number << " of " << device.index();
  EXPECT_DOUBLE_EQ(times.end_ms, end_ms) << "stage " << number << " of " << device.index();
}

}  // namespace hios::test
