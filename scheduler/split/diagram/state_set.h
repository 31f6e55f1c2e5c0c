#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/split/diagram/charges.h"

namespace hios::scheduler::split {

/// The last decision of a state and the state of the layer before that it extends.
struct Decision {
  std::uint32_t parent = 0;
  std::uint16_t op = 0, device = 0;
};

/// Non-dominated states of a decision diagram that have scheduled the same operators.
struct StateSet {
  std::vector<std::uint64_t> done;        ///< scheduled operators: a bit for each
  std::vector<std::size_t> label_device;  ///< device by label
  std::vector<std::size_t> pending;       ///< operators that have arrivals, in order
  std::vector<char> ready;                ///< by pending operator: 1 if all its producers are done
  Charges::Remaining remaining;
  std::size_t stride = 0;           ///< numbers of a state
  std::vector<double> states;       ///< of each: bound, free, used, arrivals by pending × device
  std::vector<Decision> decisions;  ///< by state
  std::size_t first_index = 0;      ///< index of the first state in its layer

  bool is_done(std::size_t op) const { return (done[op / 64] >> (op % 64) & 1) != 0; }

  /// Adds a state unless another dominates it, and removes those that it dominates. A set of
  /// `max_states` merges it with the nearest one instead. Numbers that differ by less than rounding
  /// of the cutoff count as equal, and the smaller is kept. Changes `state`.
  void insert(std::vector<double>& state, const Decision& decision, std::size_t max_states,
              double cutoff_ms);

 private:
  void remove(std::size_t i);
};

}  // namespace hios::scheduler::split
