#include "scheduler/pipeline/slicing/slicing.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "scheduler/pipeline/slicing/peak_scan.h"
#include "scheduler/pipeline/slicing/segment_scan.h"
#include "scheduler/structures/numbers.h"

// The table is filled end by end; the blocks with one end are visited from the shortest on. A visit
// stops once work and sent tensors, which only grow, exceed the limit or all values known for this
// end, since no longer block can then be better. Positions that no state has reached begin no
// block.
//
// In a long order, the limit comes from blocks that end on a grid of positions only, which are few.
// Their most expensive block is at least as expensive as the optimum's, and hardly more. The limit
// does not influence the result: values up to the optimum are exact below any limit that is not
// smaller, and the choice among equals is the shortest last block.
//
// Tests: tests/scheduler/pipeline/slicing/slicing_test.cpp.

namespace hios::scheduler::pipeline {
namespace {

constexpr std::size_t kLongOrder = 4000;   ///< vertices from which a grid pays
constexpr std::size_t kGrid = 512;         ///< its positions, at least
constexpr std::size_t kGridOfDevice = 32;  ///< and for each device
constexpr double kFirstLimit = 1.25;       ///< ratio to the simple bound
constexpr double kNextLimit = 1.5;         ///< ratio to the previous limit

constexpr double kForRoundings = 1 + 1e-9;
constexpr double kFirstCoarseLimit = 1.02, kNextCoarseLimit = 1.1;
constexpr int kCoarseLimits = 60;  ///< up to about three hundred times the first

/// The cost of a scan's segment as a block of a class, and its lower bound for longer segments.
class ClassCost {
 public:
  ClassCost(const PipelineProblem& problem, const PipelineClass& device)
      : problem_(&problem), device_(&device) {}

  void restart() {
    work_ms_ = 0;
    parameters_ = held_ = 0;
  }
  void extend(Vertex vertex) {
    work_ms_ += device_->work_ms[vertex];
    parameters_ += problem_->vertices()[vertex].parameters;
    held_ += problem_->vertices()[vertex].held;
  }
  /// Returns a lower bound of this segment, which sends for so long, and all that contain it and
  /// have its end; infinite where memory does not hold it.
  double least_ms(double send_ms) const {
    if (device_->memory_bytes > 0 && held_ > device_->memory_bytes) return kInfinity;
    return work_ms_ + send_ms * device_->charge.send + overflow(0);
  }
  double ms(const SegmentTraffic& traffic, Bytes peak) const {
    return work_ms_ + traffic.receive_ms * device_->charge.receive +
           traffic.send_ms * device_->charge.send + overflow(peak);
  }

 private:
  double overflow(Bytes peak) const {
    if (device_->fast_memory.bytes == 0) return 0;
    return overflow_ms(device_->fast_memory, parameters_, peak);
  }

  const PipelineProblem* problem_;
  const PipelineClass* device_;
  double work_ms_ = 0;
  Bytes parameters_ = 0, held_ = 0;
};

/// The last block of the best slicing of the first vertices, by state.
struct Choice {
  std::uint32_t begin = 0;
  std::uint32_t device_class = kLeftOut;
  static constexpr std::uint32_t kLeftOut =
      ~std::uint32_t{0};  ///< the state's last device is unused
};

/// One run of the dynamic program.
class SlicingTable {
 public:
  SlicingTable(const PipelineProblem& problem, std::span<const Vertex> order, std::size_t states,
               std::span<const std::size_t> previous, bool in_order)
      : problem_(problem),
        order_(order),
        states_(states),
        previous_(previous),
        in_order_(in_order),
        last_state_(states - 1),
        value_((order.size() + 1) * states),
        choice_(value_.size()) {
    bool overflows = false;
    for (const PipelineClass& each : problem.classes()) {
      costs_.emplace_back(problem, each);
      overflows = overflows || each.fast_memory.bytes > 0;
    }
    if (overflows) peaks_.emplace(problem, order);
    before_ms_.push_back(0);
    for (const Vertex v : order) {
      work_ms_.push_back(problem.classes().front().work_ms[v]);
      before_ms_.push_back(before_ms_.back() + work_ms_.back());
    }
  }

  /// Finds slicings that cost at most `limit_ms`, whose blocks end at multiples of `stride`;
  /// returns false if the deadline expired.
  bool fill(double limit_ms, std::size_t stride, const Deadline& deadline) {
    std::fill(value_.begin(), value_.end(), kInfinity);
    std::fill_n(value_.begin(), states_, 0.0);
    reached_.assign(order_.size() + 1, false);
    reached_[0] = true;
    std::size_t last_reached = 0;
    SegmentScan scan(problem_, order_);
    while (scan.advance()) {
      const std::size_t end = scan.end() + 1;
      if (deadline.expired_at(scan.end(), 64)) return false;
      if (end % stride != 0 && end < order_.size()) continue;
      if (!find_useful_states(end, limit_ms)) continue;
      if (costs_.size() == 1 &&
          before_ms_[end] - before_ms_[last_reached] > limit_ms * kForRoundings)
        return true;  // no block within the limit ends here or later
      if (costs_.size() == 1 && !peaks_) {
        find_blocks(scan, limit_ms);
      } else {
        if (peaks_) peaks_->restart(scan.end());
        for (ClassCost& cost : costs_) cost.restart();
        while (scan.begin() > 0 && extend(scan, limit_ms)) {
        }
      }
      if (in_order_) leave_out(end);
      const auto values = value_.begin() + static_cast<std::ptrdiff_t>(end * states_);
      reached_[end] =
          *std::min_element(values, values + static_cast<std::ptrdiff_t>(states_)) < kInfinity;
      if (reached_[end]) last_reached = end;
    }
    return true;
  }

  double period_ms() const { return value_.back(); }

  Slicing slicing() const {
    Slicing found;
    std::size_t state = states_ - 1;
    for (std::size_t end = order_.size(); end > 0;) {
      const Choice& choice = choice_[end * states_ + state];
      if (choice.device_class == Choice::kLeftOut) {
        --state;
        continue;
      }
      found.slices.push_back({choice.begin, end, choice.device_class, 0});
      state = previous_[state * costs_.size() + choice.device_class];
      end = choice.begin;
    }
    std::reverse(found.slices.begin(), found.slices.end());
    found.period_ms = period_ms();
    return found;
  }

 private:
  /// Finds the states that suffice for the work so far within the limit and leave enough devices
  /// for the rest; returns false if there is none. With alike devices, a state is the largest
  /// number of used devices; with others, all states count.
  bool find_useful_states(std::size_t end, double limit_ms) {
    if (costs_.size() > 1) return true;
    const double each_ms = limit_ms * kForRoundings;
    const double before = before_ms_[end] / each_ms,
                 after = (before_ms_.back() - before_ms_[end]) / each_ms;
    if (!(before + after < static_cast<double>(states_)))
      return false;  // infinite work, or too much
    const auto used = static_cast<std::size_t>(std::ceil(before));
    const auto kept = static_cast<std::size_t>(std::ceil(after));
    first_state_ = used;
    last_state_ = states_ - 1 - std::min(kept, states_ - 1);
    return first_state_ <= last_state_;
  }

  /// Tries all blocks with this end, on alike devices without fast memory: what extend() does for
  /// each, in one loop.
  void find_blocks(const SegmentScan& scan, double limit_ms) {
    const PipelineClass& device = problem_.classes().front();
    const std::size_t end = scan.end() + 1;
    const double* const now = &value_[end * states_];
    const bool limited = device.memory_bytes > 0;
    double work_ms = 0, receive_ms = 0, send_ms = 0, worst_ms = kInfinity;
    Bytes held = 0;
    for (std::size_t begin = end; begin-- > 0;) {
      work_ms += work_ms_[begin];
      receive_ms += scan.added_receive_ms(begin);
      send_ms += scan.added_send_ms(begin);
      if (limited) {
        held += problem_.vertices()[order_[begin]].held;
        if (held > device.memory_bytes) return;
      }
      const double least_ms = work_ms + send_ms * device.charge.send;
      if (least_ms > limit_ms || least_ms >= worst_ms) return;
      if (!reached_[begin]) continue;
      const double ms = work_ms + receive_ms * device.charge.receive + send_ms * device.charge.send;
      if (ms > limit_ms || ms >= worst_ms) continue;
      improve(begin, end, 0, ms);
      worst_ms = *std::max_element(now + first_state_, now + last_state_ + 1);
    }
  }

  /// Adds one vertex in front; returns false if no class can run the segment within the limit any
  /// more.
  bool extend(SegmentScan& scan, double limit_ms) {
    scan.extend();
    if (peaks_) peaks_->extend();
    bool any = false;
    for (std::size_t c = 0; c < costs_.size(); ++c) {
      costs_[c].extend(order_[scan.begin()]);
      if (costs_[c].least_ms(scan.traffic().send_ms) > limit_ms) continue;
      any = true;
      if (!reached_[scan.begin()]) continue;
      const Bytes peak = peaks_ ? scan.received_bytes() + peaks_->bytes() : 0;
      const double ms = costs_[c].ms(scan.traffic(), peak);
      if (ms <= limit_ms) improve(scan.begin(), scan.end() + 1, c, ms);
    }
    return any;
  }

  void improve(std::size_t begin, std::size_t end, std::size_t device_class, double ms) {
    const double* const before = &value_[begin * states_];
    double* const now = &value_[end * states_];
    for (std::size_t state = first_state_; state <= last_state_; ++state) {
      const std::size_t previous = previous_[state * costs_.size() + device_class];
      if (previous >= states_) continue;
      const double largest = std::max(before[previous], ms);
      if (largest >= now[state]) continue;
      now[state] = largest;
      choice_[end * states_ + state] = {static_cast<std::uint32_t>(begin),
                                        static_cast<std::uint32_t>(device_class)};
    }
  }

  void leave_out(std::size_t end) {
    double* const now = &value_[end * states_];
    for (std::size_t state = 1; state < states_; ++state) {
      if (now[state - 1] >= now[state]) continue;
      now[state] = now[state - 1];
      choice_[end * states_ + state] = {};
    }
  }

  const PipelineProblem& problem_;
  std::span<const Vertex> order_;
  std::size_t states_;
  std::span<const std::size_t> previous_;
  bool in_order_;
  std::size_t first_state_ = 0, last_state_;  // useful states at the present end
  // By position, on the first class: its vertex's work, and that of all before it.
  std::vector<double> work_ms_, before_ms_;
  std::vector<char> reached_;  // by vertices in blocks: some state has a slicing
  std::vector<ClassCost> costs_;
  std::optional<PeakScan> peaks_;
  std::vector<double> value_;   // vertices in blocks × state
  std::vector<Choice> choice_;  // the same
};

/// Returns the bound of divisible work, with each vertex at its fastest class on every device.
double simple_bound(const PipelineProblem& problem) {
  double largest = 0, sum = 0;
  for (Vertex v = 0; v < problem.size(); ++v) {
    double least = kInfinity;
    for (const PipelineClass& each : problem.classes()) least = std::min(least, each.work_ms[v]);
    largest = std::max(largest, least);
    sum += least;
  }
  return std::max(largest, sum / static_cast<double>(problem.devices()));
}

}  // namespace

Slicer::Slicer(const PipelineProblem& problem, std::size_t stride)
    : problem_(&problem), stride_(stride), simple_bound_ms_(simple_bound(problem)) {
  const std::size_t grid = std::max(kGrid, kGridOfDevice * problem.devices());
  if (stride_ == 0) stride_ = problem.size() < kLongOrder ? 1 : problem.size() / grid;
  stride_ = std::max<std::size_t>(stride_, 1);
  count_states();
  list_states();
}

void Slicer::count_states() {
  const auto size = static_cast<double>(problem_->size());
  const double segments = size * size / static_cast<double>(problem_->devices());
  const double steps = segments * static_cast<double>(problem_->classes().size());
  states_ = 1;
  for (const PipelineClass& each : problem_->classes()) {
    states_ *= each.devices.size() + 1;
    const bool few = states_ <= problem_->devices() + 1;
    if (few || (states_ <= kMaxStates && static_cast<double>(states_) * steps <= kMaxSteps))
      continue;
    in_order_ = true;
    states_ = problem_->devices() + 1;
    return;
  }
}

void Slicer::list_states() {
  const std::vector<PipelineClass>& classes = problem_->classes();
  previous_.assign(states_ * classes.size(), kNone);
  if (in_order_) {
    std::size_t state = 0;
    for (std::size_t c = 0; c < classes.size(); ++c) {
      for (std::size_t i = 0; i < classes[c].devices.size(); ++i, ++state) {
        previous_[(state + 1) * classes.size() + c] = state;
      }
    }
    return;
  }
  // A state is a number whose digits are the counts.
  for (std::size_t state = 0; state < states_; ++state) {
    std::size_t weight = 1;
    for (std::size_t c = 0; c < classes.size(); ++c) {
      const std::size_t base = classes[c].devices.size() + 1;
      if (state / weight % base > 0) previous_[state * classes.size() + c] = state - weight;
      weight *= base;
    }
  }
}

Slicing Slicer::slice(std::span<const Vertex> order, double below_ms,
                      const Deadline& deadline) const {
  if (order.empty()) return {{}, 0};
  SlicingTable table(*problem_, order, states_, previous_, in_order_);
  double all_ms = 0;  // no block costs more than all vertices and tensors
  for (const PipelineTensor& tensor : problem_->tensors()) all_ms += 2 * tensor.ms;
  double limit_ms = simple_bound_ms_ > 0 ? simple_bound_ms_ * kFirstLimit : below_ms;
  for (std::size_t stride = stride_;;) {
    const bool last = limit_ms >= below_ms || limit_ms > simple_bound_ms_ * 1e3 + all_ms;
    if (last) limit_ms = std::nextafter(below_ms, 0.0);
    if (!table.fill(limit_ms, stride, deadline)) return {};
    if (table.period_ms() <= limit_ms && table.period_ms() < below_ms) {
      if (stride == 1) return table.slicing();
      limit_ms = table.period_ms();
      stride = 1;
      continue;
    }
    if (last && stride == 1) return {};
    if (last) {  // no blocks end on the grid
      stride = 1;
      continue;
    }
    limit_ms *= kNextLimit;
  }
}

/// Fills each device up to the limit; returns nothing if vertices are left.
std::vector<Slice> Slicer::filled(std::span<const Vertex> order, double limit_ms) const {
  std::vector<Slice> slices;
  std::size_t next = 0;
  for (std::size_t c = 0; c < problem_->classes().size(); ++c) {
    for (std::size_t i = 0; i < problem_->classes()[c].devices.size(); ++i) {
      ClassCost cost(*problem_, problem_->classes()[c]);
      cost.restart();
      const std::size_t begin = next;
      for (; next < order.size(); ++next) {
        cost.extend(order[next]);
        if (cost.least_ms(0) > limit_ms) break;
      }
      if (next > begin) slices.push_back({begin, next, c, 0});
    }
  }
  return next == order.size() ? slices : std::vector<Slice>();
}

Slicing Slicer::coarse(std::span<const Vertex> order) const {
  double limit_ms = simple_bound_ms_ * kFirstCoarseLimit;
  for (int tried = 0; tried < kCoarseLimits; ++tried, limit_ms *= kNextCoarseLimit) {
    Slicing found{filled(order, limit_ms)};
    if (found.slices.empty()) continue;
    const Schedule schedule = schedule_of(*problem_, order, found);
    found.period_ms = period_of(problem_->graph(), schedule, problem_->costs()).ms();
    return found;
  }
  return {};
}

Schedule schedule_of(const PipelineProblem& problem, std::span<const Vertex> order,
                     const Slicing& slicing) {
  Schedule schedule{std::vector<std::vector<Stage>>(problem.devices())};
  std::vector<std::size_t> used(problem.classes().size(), 0);
  for (const Slice& slice : slicing.slices) {
    const PipelineClass& device_class = problem.classes()[slice.device_class];
    const DeviceId device = device_class.devices[used[slice.device_class]++];
    std::vector<OpId> ops;
    for (std::size_t at = slice.begin; at < slice.end; ++at) {
      const std::vector<OpId>& more = problem.vertices()[order[at]].ops;
      ops.insert(ops.end(), more.begin(), more.end());
    }
    schedule.devices[device.index()] = one_operator_stages(ops);
  }
  return schedule;
}

}  // namespace hios::scheduler::pipeline
