#include "scheduler/best/state/message_timing.h"

// Tests: tests/scheduler/contention_test.cpp (equal to simulate() after thousands of random moves).

namespace hios::scheduler::best {
namespace {

/// An arrangement as MessageRun reads it: slots are stages.
class PlanOfArrangement {
 public:
  explicit PlanOfArrangement(const Arrangement& arrangement) : arrangement_(arrangement) {}

  std::size_t stages() const { return arrangement_.slots(); }
  std::size_t operators() const { return arrangement_.problem().operators(); }
  bool used(std::size_t stage) const { return !arrangement_.empty(slot(stage)); }
  DeviceId device(std::size_t stage) const { return arrangement_.device(slot(stage)); }
  double cost_ms(std::size_t stage) const { return arrangement_.cost_ms(slot(stage)); }
  bool is_first(std::size_t stage) const { return arrangement_.before(slot(stage)) == kNoSlot; }
  std::size_t next(std::size_t stage) const {
    const Slot after = arrangement_.after(slot(stage));
    return after == kNoSlot ? stages() : after;
  }
  std::size_t stage_of(OpId op) const { return arrangement_.slot_of(op); }
  template <class Visit>
  void for_each_operator(std::size_t stage, const Visit& visit) const {
    for (const OpId op : arrangement_.operators(slot(stage))) visit(op);
  }
  template <class Visit>
  void for_each_output(OpId op, const Visit& visit) const {
    for (const SearchProblem::Link& output : arrangement_.problem().outputs(op)) {
      visit(output.edge, output.op);
    }
  }
  template <class Visit>
  void for_each_input(OpId op, const Visit& visit) const {
    for (const SearchProblem::Link& input : arrangement_.problem().inputs(op)) {
      visit(input.edge, input.op);
    }
  }
  const CostModel& costs() const { return arrangement_.problem().costs(); }

 private:
  static Slot slot(std::size_t stage) { return static_cast<Slot>(stage); }

  const Arrangement& arrangement_;
};

}  // namespace

bool MessageTiming::update(const Arrangement& arrangement, const std::vector<double>& tail_ms,
                           double limit_ms) {
  const PlanOfArrangement plan(arrangement);
  return run_.run(plan, {}, [&](std::size_t stage, double end_ms) {
    return end_ms + tail_ms[stage] > limit_ms;
  });
}

}  // namespace hios::scheduler::best
