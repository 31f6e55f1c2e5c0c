// Measured routes in a described platform.

#include "hios/discovery/measured_platform.h"

#include <gtest/gtest.h>

namespace hios::discovery {
namespace {

/// Two ranks on the cores of a machine with a disk.
Described two_ranks() {
  Machine machine;
  machine.nodes = {{.memory_bytes = 1, .cores = {0, 1}}};
  machine.disks = {{"sda", {}, 0}};
  return platform_of(machine, {{{.name = "cpu0", .kind = "cpu", .host = "box"}, 0},
                               {{.name = "cpu1", .kind = "cpu", .host = "box"}, 0}});
}

constexpr StoreId kDram(0), kSda(1);
constexpr DeviceId kFirst(0), kSecond(1);

const Route& route(const Described& described, const Holder& from, DeviceId to) {
  const Topology& topology = *described.platform.topology();
  return topology.route(topology.find(from, to).value());
}

std::string over(const Described& described, const Holder& from, DeviceId to) {
  std::string text;
  for (const BusId bus : route(described, from, to).over)
    text += (text.empty() ? "" : " ") + described.platform.topology()->bus(bus).name;
  return text;
}

double speed(const Described& described, const std::string& name) {
  for (const Bus& bus : described.platform.topology()->buses()) {
    if (bus.name == name) return bus.gb_per_s;
  }
  return 0;
}

TEST(MeasuredPlatform, LoadsKeepTheBusesOfRoutesThatWereNotMeasured) {
  const Described reported = two_ranks();
  EXPECT_EQ(over(reported, kDram, kFirst), "dram-read");
  const Described measured = with_measurements(
      reported, {{kDram, kFirst, 0.001, 9}, {kDram, kSecond, 0.002, 8}}, {{{0, 1}, 12}});
  EXPECT_EQ(over(measured, kDram, kFirst), "dram-read dram-out");
  EXPECT_EQ(over(measured, kDram, kSecond), "dram-read dram-out");
  EXPECT_DOUBLE_EQ(route(measured, kDram, kSecond).gb_per_s, 8);
  EXPECT_DOUBLE_EQ(route(measured, kDram, kSecond).latency_ms, 0.002);
  EXPECT_EQ(over(measured, kFirst, kSecond), "dram-read") << "not measured";
  EXPECT_EQ(over(measured, kSda, kFirst), over(reported, kSda, kFirst)) << "not measured";
  EXPECT_TRUE(measured.assumed[0].empty());
}

TEST(MeasuredPlatform, KeptBusesCarryWhatLoadsWereMeasuredToMoveOverThem) {
  const Described measured =
      with_measurements(two_ranks(), {{kDram, kFirst, 0, 90}, {kDram, kSecond, 0, 80}}, {});
  EXPECT_EQ(over(measured, kDram, kFirst), "dram-read");
  EXPECT_DOUBLE_EQ(speed(measured, "dram-read"), 170);
  const Described narrow = with_measurements(
      two_ranks(), {{kDram, kFirst, 0, 90}, {kDram, kSecond, 0, 80}}, {{{0, 1}, 95}});
  EXPECT_DOUBLE_EQ(speed(narrow, "dram-read"), kMemoryGbPerS) << "as described";
}

TEST(MeasuredPlatform, MessagesKeepBusesThatAreFastEnough) {
  const Described measured = with_measurements(
      two_ranks(), {{kFirst, kSecond, 0.5, 7}, {kSecond, kFirst, 0.5, kMemoryGbPerS + 1}}, {});
  EXPECT_EQ(over(measured, kFirst, kSecond), "dram-read");
  EXPECT_DOUBLE_EQ(route(measured, kFirst, kSecond).gb_per_s, 7);
  EXPECT_DOUBLE_EQ(route(measured, kFirst, kSecond).latency_ms, 0.5);
  EXPECT_EQ(over(measured, kSecond, kFirst), "") << "it was faster than that bus";
}

TEST(MeasuredPlatform, NothingIsAssumedOnceAllIsMeasured) {
  const Described reported = two_ranks();
  std::vector<RouteFigure> figures;
  for (const Route& each : reported.platform.topology()->routes())
    figures.push_back({each.from, each.to, 0, 1});
  EXPECT_FALSE(all_assumed(reported).empty());
  const Described measured = with_measurements(reported, figures, {});
  EXPECT_TRUE(all_assumed(measured).empty());
  EXPECT_EQ(measured.platform.topology()->buses().size(), 1u) << "that of messages alone";
  EXPECT_EQ(over(measured, kDram, kFirst), "dram-read") << "which loads slow";
  EXPECT_EQ(over(measured, kSda, kFirst), "") << "all that used it was measured";
}

TEST(MeasuredPlatform, BusesAreNamedByTheEndThatTheirRoutesShare) {
  const Described measured = with_measurements(
      two_ranks(),
      {{kDram, kFirst, 0, 9}, {kSda, kFirst, 0, 2}, {kSda, kSecond, 0, 2}, {kDram, kSecond, 0, 9}},
      {{{0, 1}, 10}, {{1, 2}, 2}, {{0, 2}, 11}, {{0, 1, 2, 3}, 20}});
  EXPECT_EQ(over(measured, kDram, kFirst), "dram-read cpu0-in shared shared-2");
  EXPECT_EQ(over(measured, kSda, kFirst), "cpu0-in sda-out shared-2");
  EXPECT_EQ(over(measured, kDram, kSecond), "dram-read shared-2");
}

}  // namespace
}  // namespace hios::discovery
