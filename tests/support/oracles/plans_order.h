#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "engine/run/plan/plan.h"

namespace hios::test {

/// The steps at which a message starts and is awaited.
struct MessageEnds {
  std::optional<std::size_t> started, awaited;  // index of the step
  Bytes sent_bytes = 0, received_bytes = 0;
  std::string name;
};

/// The messages of all plans of a schedule, and what they prove about the order of steps.
class PlansOrder {
 public:
  /// By sender, receiver and tag.
  using MessageKey = std::tuple<std::size_t, std::size_t, int>;

  /// References outlive it.
  PlansOrder(const CoarseGraph& coarse, const std::vector<RankPlan>& plans);

  const std::map<MessageKey, MessageEnds>& messages() const { return messages_; }
  /// Returns how many steps of each rank are certainly done when `rank` reaches `step` (the number
  /// of its steps stands for its end): its own, and those that end in a message which one of them
  /// awaited. REQUIRES: every message has both ends.
  std::vector<std::size_t> certain_before(std::size_t rank, std::size_t step) const;

 private:
  void note(const CoarseGraph& coarse, const RankPlan& plan, std::size_t step);
  void raise(std::vector<std::size_t>& done, std::size_t rank, std::size_t step) const;

  const std::vector<RankPlan>& plans_;
  std::map<MessageKey, MessageEnds> messages_;
};

}  // namespace hios::test
