#pragma once

#include "engine/host/disturbance.h"

namespace hios::test {

/// A machine that does something else when the test says so.
class FakeDisturbance final : public DisturbanceReader {
 public:
  explicit FakeDisturbance(bool always = false) : always_(always) {}
  DisturbanceCounts read() override {
    if (always_) disturb();
    return counts_;
  }
  /// Between the readings before and after.
  void disturb() { counts_.switches += 1'000'000; }

 private:
  bool always_;
  DisturbanceCounts counts_;
};

}  // namespace hios::test
