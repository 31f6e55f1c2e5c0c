#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/run/executor.h"
#include "engine/run/plan/plan.h"
#include "hios/model/model.h"
#include "hios/schedule/schedule.h"
#include "mpi/messages/serial.h"

namespace hios::test {

/// Returns a network of a few convolutions, some of them depthwise.
inline Model small_convolutions() {
  ModelBuilder b("small", {1, 8, 6, 6});
  TensorId x = b.input();
  for (int i = 0; i < 4; ++i) {
    const std::string number = std::to_string(i);
    const Conv dense{12, {3, 3}, {1, 1}, {1, 1}}, depthwise{12, {3, 3}, {1, 1}, {1, 1}, 12};
    x = b.relu("relu_" + number, b.conv("dense_" + number, x, dense));
    x = b.conv("depthwise_" + number, x, depthwise);
    x = b.conv("pointwise_" + number, x, Conv{12, {1, 1}, {1, 1}, {0, 0}});
  }
  return std::move(b).build();
}

/// EXPECTs that a cold start of that network on one rank has the bits of an inference with all
/// parameters there, recorded with the device's clocks or not, and that forgotten parameters show.
/// Every third operator with parameters reads them in place.
inline void expect_cold_bits_on(Backend& backend) {
  const Model model = small_convolutions();
  const CoarseGraph coarse = coarsen(model, backend.element_bytes());
  const auto order = coarse.graph.topological();
  Schedule resident{{one_operator_stages({order.begin(), order.end()})}}, cold = resident;
  Weights& weights = cold.weights.emplace();
  Lane& lane = weights.lanes.emplace_back();
  std::size_t number = 0;
  for (const OpId op : order) {
    if (coarse.graph.op(op).parameter_bytes == 0) continue;
    if (++number % 3 == 0) {
      weights.in_place.push_back({op, StoreId(0)});
    } else {
      lane.push_back({op, StoreId(0), DeviceId(0)});
    }
  }
  const auto transport = mpi::make_serial_transport();
  const OpId last = order.back();
  std::vector<float> expected;
  {
    SeededSource source(7);
    const RankPlan plan = plan_rank(coarse, resident, Rank(0));
    Executor executor({coarse, model, backend, *transport, source}, plan);
    executor.run_once();
    expected = executor.output(last);
  }
  SeededSource source(7);
  const RankPlan plan = plan_rank(coarse, cold, Rank(0));
  ASSERT_GT(plan.in_place.size(), 1u);
  Executor executor({coarse, model, backend, *transport, source}, plan);
  for (int i = 0; i < 3; ++i) {
    executor.record_stages(i == 1);
    executor.forget_parameters();
    executor.run_once();
    EXPECT_EQ(executor.output(last), expected) << "cold, iteration " << i;
  }
  executor.start(Start::kResident);
  executor.run_once();
  EXPECT_EQ(executor.output(last), expected) << "resident";
  executor.forget_parameters();
  executor.run_once();
  EXPECT_NE(executor.output(last), expected) << "forgotten";
  executor.load_alone();
  executor.run_once();
  EXPECT_EQ(executor.output(last), expected) << "loaded alone";
}

}  // namespace hios::test
