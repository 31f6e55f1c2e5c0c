#include "hios/evaluate/measured_devices.h"

#include <gtest/gtest.h>

#include "hios/evaluate/blocks.h"
#include "hios/evaluate/cost_model.h"

namespace hios {
namespace {

constexpr Bytes kWeights = 4 << 20, kTensor = 1 << 20;

/// Four operators in a row of 4 MiB of weights each. In blocks of two, which hold 8 MiB of weights
/// and up to three tensors, each takes 1 ms; in the whole `cold_ms`.
class Row : public testing::Test {
 protected:
  explicit Row(double cold_ms = 3) {
    std::vector<Operator> operators;
    std::vector<Edge> edges;
    Configuration measured;
    measured.backend = measured.kind = "cpu";
    measured.ranks = 2;
    for (std::size_t i = 0; i < 4; ++i) {
      Operator op;
      op.name = op.signature = "op" + std::to_string(i);
      op.parameter_bytes = kWeights;
      op.memory_bytes = kTensor;
      measured.operators[op.signature] = {cold_ms + 0.5, cold_ms, 30};
      measured.warm[op.signature] = {1, cold_ms, 2 * kWeights + 3 * kTensor, 60};
      operators.push_back(op);
      if (i == 0) continue;
      Edge edge;
      edge.from = OpId(i - 1);
      edge.to = OpId(i);
      edge.size_bytes = kTensor;
      edges.push_back(edge);
    }
    measured.transfers = {{0, 1, {{1024, 0.5}}}, {1, 0, {{1024, 0.5}}}};
    measured.io_charge = MeasuredCharge{{0.25, 0.75}, 90};
    graph_ = Graph("row", std::move(operators), std::move(edges));
    profile_.configurations = {measured};
  }
  Configuration& measured() { return profile_.configurations.front(); }
  static std::vector<Stage> stages(std::size_t first, std::size_t count) {
    std::vector<Stage> list;
    for (std::size_t i = first; i < first + count; ++i) list.push_back({{{OpId(i)}}});
    return list;
  }
  Period period(const Schedule& schedule, const Platform& platform) const {
    return period_of(graph_, schedule, CostModel::from_profile(graph_, platform, profile_));
  }

  Graph graph_;
  Profile profile_;
  const Platform two_ = Platform::homogeneous(2, "cpu", 1, 1);
};

TEST_F(Row, BothEndsAreAsMeasured) {
  const Platform platform = with_measured(graph_, two_, profile_);
  const Period whole = period({{stages(0, 4), {}}}, platform);
  EXPECT_NEAR(whole.ms(), 4 * 3, 1e-9);
  const Period halves = period({{stages(0, 2), stages(2, 2)}}, platform);
  EXPECT_NEAR(halves.blocks[0].stages_ms, 2, 1e-9);
  EXPECT_EQ(halves.blocks[0].overflow_ms, 0);
  EXPECT_NEAR(halves.blocks[0].send_ms, 0.25 * 0.5, 1e-9);
  EXPECT_NEAR(halves.blocks[1].receive_ms, 0.75 * 0.5, 1e-9);
  // In between, by the byte.
  const Period three = period({{stages(0, 3), stages(3, 1)}}, platform);
  EXPECT_GT(three.blocks[0].overflow_ms, 0);
  EXPECT_LT(three.blocks[0].overflow_ms, 4 * 2);
}

TEST_F(Row, ValuesOfThePlatformStay) {
  std::vector<Device> devices(two_.devices().begin(), two_.devices().end());
  devices[0].io_charge = IoCharge{1, 1};
  devices[0].fast_memory = {1 << 20, 7};
  const std::vector<SetByPlatform> set = {{true, true}, {false, false}};
  const Platform platform = with_measured(graph_, Platform(devices), profile_, set);
  EXPECT_EQ(platform.device(DeviceId(0)), devices[0]);
  EXPECT_EQ(platform.device(DeviceId(1)).io_charge, (IoCharge{0.25, 0.75}));
  EXPECT_EQ(platform.device(DeviceId(1)).fast_memory.bytes, 2 * kWeights + 3 * kTensor);
}

TEST_F(Row, WithoutMeasurementsNothingChanges) {
  measured().warm.erase("op2");
  measured().io_charge.reset();
  const Platform platform = with_measured(graph_, two_, profile_);
  EXPECT_EQ(platform.device(DeviceId(0)), two_.device(DeviceId(0)));
  EXPECT_NEAR(period({{stages(0, 4), {}}}, platform).ms(), 4 * 3.5, 1e-9)
      << "as the profile has it";
  EXPECT_NE(measured_devices_text(graph_, platform, profile_).find("not measured"),
            std::string::npos);
}

TEST_F(Row, DevicesOfSeveralStreamsCountCold) {
  const Platform streams = Platform::homogeneous(2, "cpu", 1, 2);
  const Platform platform = with_measured(graph_, streams, profile_);
  EXPECT_EQ(platform.device(DeviceId(0)).fast_memory, FastMemory{});
  EXPECT_EQ(platform.device(DeviceId(0)).io_charge, (IoCharge{0.25, 0.75}));
  EXPECT_NEAR(period({{stages(0, 4), {}}}, platform).ms(), 4 * 3.5, 1e-9);
  // Also where the platform's file gives the fast memory.
  std::vector<Device> given(streams.devices().begin(), streams.devices().end());
  for (Device& device : given) device.fast_memory = {1 << 20, 10};
  const Platform fast(std::move(given));
  EXPECT_EQ(CostModel::from_profile(graph_, fast, profile_).operator_ms(OpId(0), DeviceId(0)), 3.5);
}

TEST_F(Row, RecordsTheMeasuredValues) {
  const std::string text = measured_devices_text(graph_, two_, profile_);
  EXPECT_NE(text.find("transfers occupy the sender for 25 % and the receiver for 75 % of their "
                      "time between waiting ranks (measured)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("operators take 12.000 ms in the whole network and 4.000 ms in blocks of it"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("beyond 11.0 MiB"), std::string::npos) << text;
}

class EvenRow : public Row {
 protected:
  EvenRow() : Row(1.005) {}
};

TEST_F(EvenRow, NoiseIsNotTakenForFastMemory) {
  EXPECT_FALSE(measured_fast_memory(graph_, measured()));
  EXPECT_EQ(with_measured(graph_, two_, profile_).device(DeviceId(0)).fast_memory, FastMemory{});
}

}  // namespace
}  // namespace hios
