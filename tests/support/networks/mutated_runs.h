#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/job/run_inputs.h"
#include "mpi/transport.h"
#include "support/networks/random_network.h"

/// A stranger's schedules of a small network: each is refused, or gives what one rank gives.
namespace hios::test {

/// Small networks with random mutations of random valid schedules, all from the seed.
class StrangersSchedule {
 public:
  /// `devices`: of the job. A part of the seeds limits the devices' memory.
  StrangersSchedule(std::uint64_t seed, std::size_t devices);

  /// "seed 7, 3 devices: cut a stage, drop".
  const std::string& what() const { return what_; }
  std::size_t devices() const { return inputs_.schedule.devices.size(); }
  /// Whether validate() finds nothing.
  bool valid() const { return valid_; }

  /// EXPECTs that all who are asked say the same: validate(), the reader of files (which may refuse
  /// more), and what a job asks before it starts.
  void expect_one_opinion() const;

  /// One rank's part of the run. Collective. REQUIRES: valid().
  void expect_as_one_rank(mpi::Transport& transport) const;

 private:
  std::string what_;
  std::uint64_t seed_;
  RandomNetwork network_;
  job::RunInputs inputs_;
  bool valid_;
};

}  // namespace hios::test
