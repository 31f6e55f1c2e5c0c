#include "scheduler/best/annealing.h"

#include <algorithm>
#include <cmath>

#include "scheduler/best/moves/neighbourhoods.h"
#include "scheduler/structures/exponential.h"

// Simulated annealing over arrangements. The energy is the latency plus a small share of all
// stages' work. Many moves leave the latency as it is; those that save work make later gains
// possible. The temperature falls with the cube of the rest of a cycle, from a fraction of a mean
// operator's time to almost 0.
//
// A move is accepted if its energy exceeds the present one by at most temperature · x, where x is
// drawn from the exponential distribution before the move. That is Metropolis' rule, and as a limit
// it lets Timing::update() reject a bad move early.
//
// In a large graph most moves are independent of each other, and an accepted one would update the
// times of everything after it. So a cycle of few moves an operator is a sweep: it visits the
// sequence, sorted by time, neighbourhood by neighbourhood. Ends before a neighbourhood and tails
// after it are fixed, so it is a small problem of its own (state/timing.h), and its latency is its
// longest path. A neighbourhood never leaves the schedule longer: no path through it becomes longer
// than the longest one was. Operators of one label and trades for memory reach beyond
// neighbourhoods; where there are any, every other cycle covers the whole sequence.
//
// The sequence of an arrangement restricts more than the schedule does: stages of different devices
// limit each other's ranges even if their order is arbitrary. So the sequence is sorted again from
// time to time, by the earliest ends or by the latest starts. (Both grow along edges and devices in
// floating point too, since rounding is monotone; an earliest start as end − cost would not.)
//
// Tests: tests/scheduler/best/best_test.cpp.

namespace hios::scheduler::best {
namespace {

// Temperatures as shares of a mean operator's time. The fewer the operators, the
// hotter a cycle may begin. A cycle of few moves an operator begins cooler, as it could not undo
// the disorder.
constexpr double kHot = 0.05;         ///< at least
constexpr double kHottest = 1;        ///< at most
constexpr double kHotOperators = 20;  ///< divided by the number of operators, clamped to these two
constexpr double kMovesForHot = 500;  ///< moves an operator in a cycle of that temperature
constexpr double kCold = 0.003;
constexpr double kWork = 0.3;              ///< share of the work in the energy
constexpr double kMemory = 0.3;            ///< initial cost of all bytes, in mean operators' times
constexpr double kMaxMemory = 30;          ///< final cost
constexpr double kOverfull = 0.6;          ///< cost of an overfull device, apart from its bytes
constexpr double kMaxMovesOfSweep = 400;   ///< moves an operator in a cycle
constexpr std::size_t kMinOfSweep = 2000;  ///< operators of a graph
constexpr std::size_t kNeighbourhood = 500;         ///< positions, at least
constexpr std::size_t kNeighbourhoodOfDevice = 32;  ///< positions a device, at least
constexpr std::int64_t kMovesToCool = 256;
constexpr std::int64_t kMovesToReorder = 1024;
constexpr std::int64_t kWorkToStop = 100'000;  ///< moves · operators between two checks

}  // namespace

Annealing::Annealing(const SearchProblem& problem, const Schedule& start, std::uint64_t seed)
    : problem_(problem),
      stage_costs_(problem),
      random_(seed),
      now_(problem, stage_costs_, start),
      best_(now_),
      timing_(now_),
      proposals_(now_, timing_, random_),
      best_ms_(timing_.latency_ms()) {
  order_as_in(start, now_);
  if (!now_.precedences().empty()) {
    best_ = now_;
    timing_.recompute();
    best_ms_ = timing_.latency_ms();
  }
  sweeps_do_all_ = !problem.memory_binds() && !problem.any_companions();
  // Operators run where they are fast, and stages may be shorter than their operators. So the mean
  // over devices would be too hot, and what the start takes is the scale of moves.
  const double scale = std::min(problem.total_operator_ms(), now_.work_ms());
  const auto operators = static_cast<double>(problem.operators());
  hottest_ms_ = std::clamp(kHotOperators / operators, kHot, kHottest) * scale / operators;
  cold_ms_ = kCold * scale / operators;
}

void Annealing::begin_cycle(std::int64_t length) {
  cycle_length_ = cooling_ = length;
  in_cooling_ = 0;
  const double moves = static_cast<double>(length) / static_cast<double>(problem_.operators());
  hot_ms_ = cold_ms_ + (hottest_ms_ - cold_ms_) * std::min(1.0, moves / kMovesForHot);
  now_ = best_;
  timing_.recompute();
  least_ms_ = best_ms_;
  now_is_best_ = false;
  // Where messages matter, moves in a neighbourhood delay tensors of others.
  const bool large = problem_.operators() >= kMinOfSweep && moves < kMaxMovesOfSweep &&
                     !problem_.messages_matter();
  swept_ = large && (sweeps_do_all_ || !swept_);
  if (swept_) begin_sweep();
  weigh_memory();
  now_energy_ms_ = energy_ms(timing_.latency_ms());
}

void Annealing::end_cycle() {
  if (!neighbourhoods_.empty()) end_sweep();
}

void Annealing::begin_sweep() {
  reorder();
  best_ = now_;
  const std::size_t size =
      std::max(kNeighbourhood, kNeighbourhoodOfDevice * problem_.usable().size());
  neighbourhoods_ = neighbourhoods_of(now_, size, random_);
  next_neighbourhood_ = 0;
  enter_neighbourhood(neighbourhoods_[next_neighbourhood_++]);
}

void Annealing::end_sweep() {
  leave_neighbourhood();
  confine({0, now_.slots()});
  neighbourhoods_.clear();
  timing_.recompute();
  best_ms_ = least_ms_ = timing_.latency_ms();
}

void Annealing::enter_neighbourhood(Neighbourhood neighbourhood) {
  confine(neighbourhood);
  timing_.enter_neighbourhood();
  least_ms_ = timing_.latency_ms();
  now_energy_ms_ = energy_ms(timing_.latency_ms());
  const double share = static_cast<double>(neighbourhood.end - neighbourhood.first) /
                       static_cast<double>(now_.slots());
  cooling_ = std::max<std::int64_t>(std::llround(static_cast<double>(cycle_length_) * share), 1);
  in_cooling_ = 0;
}

/// Replaces the neighbourhood by its best state.
void Annealing::leave_neighbourhood() {
  save_best();
  now_.take_neighbourhood(best_);
  timing_.leave_neighbourhood();
}

void Annealing::confine(Neighbourhood neighbourhood) {
  now_.confine(neighbourhood);
  best_.confine(neighbourhood);
  proposals_.confine();
}

double Annealing::left_of_cooling() const {
  return std::max(0.0, 1 - static_cast<double>(in_cooling_) / static_cast<double>(cooling_));
}

double Annealing::energy_ms(double latency_ms) const {
  const double energy =
      latency_ms + kWork * now_.work_ms() / static_cast<double>(problem_.usable().size());
  if (now_.excess_bytes() == 0) return energy;
  return energy + ms_per_excess_byte_ * static_cast<double>(now_.excess_bytes()) +
         ms_per_overfull_device_ * static_cast<double>(now_.overfull_devices());
}

/// Raises the cost of memory beyond the limits through the cycle, from little to more than any
/// schedule gains by it.
void Annealing::weigh_memory() {
  const double gone = 1 - left_of_cooling();
  const double weight = kMemory + (kMaxMemory - kMemory) * gone * gone;
  const double operator_ms =
      problem_.total_operator_ms() / static_cast<double>(problem_.operators());
  ms_per_excess_byte_ = weight * problem_.total_operator_ms() / problem_.total_held_bytes();
  ms_per_overfull_device_ = weight * kOverfull * operator_ms;
}

void Annealing::cool() {
  const double left = left_of_cooling();
  temperature_ms_ = cold_ms_ + (hot_ms_ - cold_ms_) * left * left * left;
  if (!problem_.memory_binds()) return;
  weigh_memory();
  now_energy_ms_ = energy_ms(timing_.latency_ms());
}

void Annealing::reorder() {
  std::vector<double> key(now_.slots(), 0);
  const bool by_earliest = random_.below(2) == 0;
  for (std::size_t p = 0; p < now_.slots(); ++p) {
    const Slot slot = now_.at(p);
    if (now_.empty(slot)) continue;
    const double left = timing_.tail_ms(slot) + now_.cost_ms(slot);
    key[slot] = by_earliest ? timing_.end_ms(slot) : -left;
  }
  now_.reorder(key);
}

void Annealing::step() {
  if (!proposals_.propose()) {
    now_.undo();
    return;
  }
  const double limit = now_energy_ms_ + temperature_ms_ * exponential(random_);
  if (!timing_.update(limit - energy_ms(0))) {
    now_.undo();
    return;
  }
  if (now_is_best_ && (timing_.latency_ms() > least_ms_ || now_.excess_bytes() > 0)) {
    timing_.undo();  // the best is saved when it is left, not at every step towards it
    now_.undo();
    save_best();
    return;
  }
  timing_.keep();
  now_.keep();
  now_energy_ms_ = energy_ms(timing_.latency_ms());
  if (timing_.latency_ms() < least_ms_ && now_.excess_bytes() == 0) {
    least_ms_ = timing_.latency_ms();
    if (neighbourhoods_.empty()) best_ms_ = least_ms_;
    now_is_best_ = true;
  }
}

void Annealing::save_best() {
  copy_to_best();
  now_is_best_ = false;
}

void Annealing::copy_to_best() {
  if (now_is_best_ && neighbourhoods_.empty()) best_ = now_;
  if (now_is_best_ && !neighbourhoods_.empty()) best_.take_neighbourhood(now_);
}

void Annealing::run(std::int64_t moves, double good_enough_ms, const Deadline& deadline) {
  const auto operators = static_cast<std::int64_t>(problem_.operators());
  const std::int64_t look = std::clamp<std::int64_t>(kWorkToStop / operators, 1, 256);
  for (std::int64_t i = 0; i < moves; ++i, ++in_cooling_) {
    if (i % look == 0 && (best_ms_ <= good_enough_ms || deadline.expired())) break;
    if (in_cooling_ >= cooling_ && next_neighbourhood_ < neighbourhoods_.size()) {
      leave_neighbourhood();
      enter_neighbourhood(neighbourhoods_[next_neighbourhood_++]);
    }
    if (in_cooling_ % kMovesToCool == 0) cool();
    if (in_cooling_ % kMovesToReorder == 0) reorder();
    step();
  }
  copy_to_best();  // for callers between two rounds
}

void Annealing::order_as_in(const Schedule& schedule, Arrangement& arrangement) {
  const bool listed = !schedule.transfers.empty() && arrangement.problem().links_contend();
  if (listed) impose(arrangement, schedule.transfers);
}

void Annealing::adopt(const Annealing& other) {
  best_ = Arrangement(other.best_, stage_costs_);
  best_ms_ = other.best_ms_;
}

void Annealing::restart(const Schedule& schedule) {
  best_ = Arrangement(problem_, stage_costs_, schedule);
  order_as_in(schedule, best_);
  best_ms_ = Timing(best_).latency_ms();
}

}  // namespace hios::scheduler::best
