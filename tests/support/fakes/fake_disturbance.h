#pragma once

#include "engine/host/disturbance.h"

namespace hios::test {

/// A machine that a test disturbs.
class FakeDisturbance final : public DisturbanceReader {
 public:
  explicit FakeDisturbance(bool always = false) : always_(always) {}
  DisturbanceCounts read() override {
    if (always_) disturb();
    return counts_;
  }
  /// Adds a disturbance between the readings before and after.
  void disturb() { counts_.switches += 1'000'000; }

 private:
  bool always_;
  DisturbanceCounts counts_;
};

}  // namespace hios::test
