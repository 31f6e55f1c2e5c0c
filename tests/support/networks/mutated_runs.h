#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/job/run_inputs.h"
#include "mpi/transport.h"
#include "support/networks/random_network.h"

/// Mutated schedules of a small network: each is refused, or gives the bits of one rank.
namespace hios::test {

/// Small networks with random mutations of random valid schedules, all from the seed.
class MutatedSchedule {
 public:
  /// `devices`: those of the job. Some of the seeds limit the devices' memory.
  MutatedSchedule(std::uint64_t seed, std::size_t devices);

  /// Returns "seed 7, 3 devices: cut a stage, drop".
  const std::string& what() const { return what_; }
  std::size_t devices() const { return inputs_.schedule.devices.size(); }
  /// Returns true if validate() finds nothing.
  bool valid() const { return valid_; }

  /// EXPECTs that all checks agree: validate(), the parser of files (which may refuse more), and a
  /// job before it starts.
  void expect_checks_agree() const;

  /// Runs the schedule on this rank. Collective. REQUIRES: valid().
  void expect_as_one_rank(mpi::Transport& transport) const;

 private:
  std::string what_;
  std::uint64_t seed_;
  RandomNetwork network_;
  job::RunInputs inputs_;
  bool valid_;
};

}  // namespace hios::test
